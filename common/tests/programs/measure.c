/* SPDX-License-Identifier: MIT */
/* measure.c - tests how often a launch with scattered times is timed, and which timing is kept. The launches only
   put on the clock, which is this program's own, so that whatever else the machine does changes no time: the first
   two warm up, then come attempts of five, two of them longer. Prints TAP. */
#include <stdio.h>
#include <string.h>

/* the functions of harness/measure.c once more, which take the time from here */
#define measure measure_by_own_clock
#define timing_of timing_by_own_clock
#include "../../harness/baselines.h"
#include "../../harness/measure.h"

enum { MOST_EVENTS = 16 };
static float clock_ms;
static struct {
    cudaEvent_t event;
    float ms;
} recorded[MOST_EVENTS];

static float *time_of(cudaEvent_t event)
{
    int i = 0;
    while (i < MOST_EVENTS - 1 && recorded[i].event != NULL && recorded[i].event != event)
        i++;
    recorded[i].event = event;
    return &recorded[i].ms;
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    *time_of(event) = clock_ms;
    return cudaSuccess;
}

static cudaError_t elapsed_time(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = *time_of(to) - *time_of(from);
    return cudaSuccess;
}

#define cudaEventRecord record
#define cudaEventElapsedTime elapsed_time
#include "../../harness/measure.c"

static int launches;
static int longer[3];   /* for each attempt how many times as long two of its launches take */
static int at_place[2]; /* launches at each place */
static const struct problem places[2];

static cudaError_t launch(const void *what, const struct problem *problem, cudaStream_t stream)
{
    const int timed = launches++ - 2;
    (void)what, (void)stream;
    at_place[problem - places]++;
    clock_ms += 10.0f * (float)(timed >= 0 && timed % 5 >= 3 ? longer[timed / 5 % 3] : 1);
    return cudaSuccess;
}

static int number;

static void check(const char *what, int first, int second, int third, int must_be_launches, double low, double high)
{
    const struct flush no_flush = {NULL, 0};
    struct timing timing = {0};
    longer[0] = first, longer[1] = second, longer[2] = third;
    launches = 0;
    memset(recorded, 0, sizeof recorded);
    const cudaError_t error = measure(launch, NULL, places, 1, 5, &no_flush, &timing);
    const double spread = timing.p80_ms / timing.p20_ms;
    const bool good = error == cudaSuccess && launches == must_be_launches && low <= spread && spread <= high;
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    if (!good)
        printf("# %d launches, p80 / p20 = %.2f\n", launches, spread);
}

int main(void)
{
    check("calm times are taken once", 1, 1, 1, 7, 1.0, 1.5);
    check("times that scatter are taken again", 5, 1, 1, 12, 1.0, 1.5);
    check("at most twice, and the calmest are kept", 8, 3, 6, 17, 2.0, 4.0);
    at_place[0] = at_place[1] = 0;
    launches = longer[0] = longer[1] = longer[2] = 1;
    memset(recorded, 0, sizeof recorded);
    struct timing timing;
    const struct flush no_flush = {NULL, 0};
    const cudaError_t error = measure(launch, NULL, places, 2, 4, &no_flush, &timing);
    printf("%sok %d - two places are warmed up and timed in turn\n",
           error == cudaSuccess && at_place[0] == 4 && at_place[1] == 4 ? "" : "not ", ++number);
    printf("1..%d\n", number);
    return 0;
}
