/* SPDX-License-Identifier: MIT */
/* messages.c - counts what is handed to MPI. MPI has each of its functions under a second name, PMPI_..., so that a
   program may put its own in front ("profiling interface", MPI 3.1, chapter 14). */
#include "ranks.h"

struct messages messages;

static void count_message(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    messages.bytes += (size_t)count * (size_t)size;
    messages.calls++;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    count_message(count, type);
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    if (dest != MPI_PROC_NULL)
        count_message(count, type);
    return PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status);
}

int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    count_message(count, type);
    return PMPI_Exscan(from, to, count, type, op, comm);
}

int MPI_Iexscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    count_message(count, type);
    return PMPI_Iexscan(from, to, count, type, op, comm, request);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                  MPI_Comm comm)
{
    count_message(count, type);
    return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    count_message(count, type);
    return PMPI_Allreduce(from, to, count, type, op, comm);
}
