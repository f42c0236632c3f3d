/* SPDX-License-Identifier: MIT */
/* npy.c - see npy.h */
#include "npy.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* The text after 'key': in the header's dictionary, or NULL. */
static const char *header_value(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (at == NULL)
        return NULL;
    at += strlen(quoted);
    at += strspn(at, " ");
    if (*at != ':')
        return NULL;
    at++;
    return at + strspn(at, " ");
}

/* Elements, or SIZE_MAX where their bytes would overflow. */
static size_t checked_count(const struct npy *array)
{
    size_t count = 1;
    for (int d = 0; d < array->num_dims; d++)
        if (array->dims[d] == 0)
            return 0;
    for (int d = 0; d < array->num_dims; d++) {
        if (array->dims[d] > PTRDIFF_MAX / 8 / count)
            return SIZE_MAX;
        count *= array->dims[d];
    }
    return count;
}

/* "(3, 1000)" or "(1000,)" into *array. */
static int read_shape(const char *path, const char *text, struct npy *array)
{
    array->num_dims = 0;
    if (*text++ != '(')
        return usage_error("%s: its header has no readable shape; save it again with numpy.save", path);
    for (;;) {
        text += strspn(text, " ,");
        if (*text == ')')
            break;
        if (!isdigit((unsigned char)*text))
            return usage_error("%s: its header has no readable shape; save it again with numpy.save", path);
        char *end;
        errno = 0;
        const uint64_t value = strtoull(text, &end, 10);
        if (errno != 0 || value > PTRDIFF_MAX)
            return usage_error("%s: its shape is too large for this machine", path);
        if (array->num_dims == NPY_MAX_DIMS)
            return usage_error("%s: it has more than %d dimensions; reshape it", path, NPY_MAX_DIMS);
        array->dims[array->num_dims++] = value;
        text = end;
    }
    if (array->num_dims == 0)
        return usage_error("%s: it is a single number; give an array of at least 1 dimension", path);
    if (checked_count(array) == SIZE_MAX)
        return usage_error("%s: its shape is too large for this machine", path);
    return 0;
}

/* Element types that convert, with their size. */
static const struct element_type {
    const char *descr;
    size_t size;
} element_types[] = {{"<f2", 2}, {"<f4", 4}, {"<f8", 8}, {"|i1", 1}, {"<i2", 2}, {"<i4", 4}, {"<i8", 8},
                     {"|u1", 1}, {"<u2", 2}, {"<u4", 4}, {"<u8", 8}, {"<i1", 1}, {"<u1", 1}};

/* One element at `bytes`, little-endian whatever the machine is. */
static double element(const struct element_type *type, const unsigned char *bytes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < type->size; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    if (type->descr[1] == 'f' && type->size == 2)
        return float_of_fp16((uint16_t)bits);
    if (type->descr[1] == 'f' && type->size == 4)
        return float_of_bits((uint32_t)bits);
    if (type->descr[1] == 'f') {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (type->descr[1] == 'u')
        return (double)bits;
    const int unused = 64 - 8 * (int)type->size;
    return (double)((int64_t)(bits << unused) >> unused); /* extends the sign */
}

static int read_values(const char *path, FILE *file, const struct element_type *type, struct npy *array)
{
    const size_t count = npy_count(array);
    unsigned char chunk[4096];
    const size_t chunk_count = sizeof chunk / type->size;

    array->values = malloc(count * sizeof(float) + 1);
    if (array->values == NULL)
        return usage_error("%s: not enough memory for its %zu elements", path, count);
    for (size_t done = 0; done < count;) {
        const size_t want = count - done < chunk_count ? count - done : chunk_count;
        const size_t got = fread(chunk, type->size, want, file);
        for (size_t i = 0; i < got; i++) {
            const double value = element(type, chunk + i * type->size);
            array->values[done + i] = (float)value;
            if (isfinite(value) && !isfinite(array->values[done + i]))
                return usage_error("%s: element %zu (%g) is too large for float32; scale the array", path, done + i,
                                   value);
        }
        done += got;
        if (got < want)
            return usage_error("%s: truncated: its header promises %zu elements, it holds %zu", path, count, done);
    }
    if (fgetc(file) != EOF)
        return usage_error("%s: more bytes than the %zu elements that its header promises", path, count);
    return 0;
}

/* One line about a type that does not convert. In the header it is a word in quotes, or for records a list. */
static int type_error(const char *path, const char *descr)
{
    const int length = (int)strcspn(descr + 1, "'\"\n") + 2;
    if (*descr != '\'' && *descr != '"')
        return usage_error("%s: its elements are records; save one of their fields, converted with "
                           ".astype(numpy.float32)",
                           path);
    return usage_error("%s: its elements are of type %.*s; convert it with .astype(numpy.float32)", path,
                       length < 40 ? length : 40, descr);
}

static int read_file(const char *path, FILE *file, struct npy *array)
{
    unsigned char start[12];
    size_t header_size;
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
        return usage_error("%s: not a .npy file; save the array with numpy.save", path);
    if (start[6] < 1 || start[6] > 3)
        return usage_error("%s: .npy version %d is not known here; save it again with numpy.save", path, start[6]);
    header_size = start[8] | (size_t)start[9] << 8;
    if (start[6] >= 2) { /* four bytes of size */
        if (fread(start + 10, 1, 2, file) != 2)
            return usage_error("%s: truncated inside its header", path);
        header_size |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (header_size > 65536)
        return usage_error("%s: its header is too long to be an array of numbers", path);

    char *header = calloc(header_size + 1, 1);
    if (header == NULL)
        return usage_error("%s: not enough memory", path);
    int status = 0;
    const struct element_type *type = NULL;
    if (fread(header, 1, header_size, file) != header_size) {
        status = usage_error("%s: truncated inside its header", path);
        goto out;
    }
    const char *descr = header_value(header, "descr");
    const char *order = header_value(header, "fortran_order");
    const char *shape = header_value(header, "shape");
    if (descr == NULL || order == NULL || shape == NULL) {
        status = usage_error("%s: its header is not readable; save it again with numpy.save", path);
        goto out;
    }
    for (size_t i = 0; i < sizeof element_types / sizeof element_types[0]; i++)
        if (*descr != '\0' && strncmp(descr + 1, element_types[i].descr, 3) == 0 && descr[4] == descr[0])
            type = &element_types[i];
    if (type == NULL) {
        status = type_error(path, descr);
        goto out;
    }
    if (strncmp(order, "False", 5) != 0) {
        status = usage_error("%s: it is in Fortran order; save numpy.ascontiguousarray of it", path);
        goto out;
    }
    if ((status = read_shape(path, shape, array)) == 0)
        status = read_values(path, file, type, array);
out:
    free(header);
    return status;
}

int npy_read(const char *path, struct npy *array)
{
    memset(array, 0, sizeof *array);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return usage_error("%s: cannot read: %s", path, strerror(errno));
    const int status = read_file(path, file, array);
    fclose(file);
    if (status != 0)
        npy_free(array);
    return status;
}

void npy_write(struct output *output, const struct npy *shape, enum dtype dtype, const void *values)
{
    const size_t count = npy_count(shape);
    char dims[NPY_SHAPE_TEXT], header[128 + NPY_SHAPE_TEXT];
    /* magic, version and size take 10 bytes; with them the header is 128 long, or 256 with many dimensions, ends in a
       newline, and is filled with spaces */
    const int used = snprintf(header, sizeof header, "{'descr': '<f%d', 'fortran_order': False, 'shape': %s, }",
                              dtype == FP16 ? 2 : 4, npy_shape(shape, dims));
    const int size = (10 + used + 1 <= 128 ? 128 : 256) - 10;
    memset(header + used, ' ', sizeof header - (size_t)used);
    header[size - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00", 1, 8, output->file);
    fputc(size, output->file);
    fputc(0, output->file);
    fwrite(header, 1, (size_t)size, output->file);
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits =
            dtype == FP16 ? ((const uint16_t *)values)[i] : bits_of_float(dtype_get(dtype, values, i));
        const unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                                        (unsigned char)(bits >> 24)};
        fwrite(bytes, 1, dtype == FP16 ? 2 : 4, output->file);
    }
}

void npy_free(struct npy *array)
{
    free(array->values);
    array->values = NULL;
}

size_t npy_count(const struct npy *shape)
{
    size_t count = 1;
    for (int d = 0; d < shape->num_dims; d++)
        count *= shape->dims[d];
    return count;
}

const char *npy_shape(const struct npy *shape, char text[NPY_SHAPE_TEXT])
{
    int used = sprintf(text, "(");
    for (int d = 0; d < shape->num_dims; d++)
        used += sprintf(text + used, "%s%zu", d == 0 ? "" : ", ", shape->dims[d]);
    sprintf(text + used, shape->num_dims == 1 ? ",)" : ")");
    return text;
}
