/* SPDX-License-Identifier: MIT */
/* library.cpp - the moving average of library.c in C++: device memory frees itself, and what fails is thrown
   (docs/library.md).

       c++ -std=c++17 library.cpp $(pkg-config --cflags --libs linrec) -o library                                    */
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include <linrec.h>

static void must(int status)
{
    if (status != LINREC_SUCCESS)
        throw std::runtime_error(linrec_strerror(status));
}

static void must_cuda(cudaError_t error)
{
    must(error == cudaSuccess ? LINREC_SUCCESS : LINREC_CUDA_ERROR + static_cast<int>(error));
}

struct device_free {
    void operator()(void *memory) const
    {
        cudaFree(memory);
    }
};
template <typename type>
using device_array = std::unique_ptr<type[], device_free>;

/* Room for `count` elements, which are those of `host`, if that is given. */
template <typename type>
static device_array<type> on_device(std::size_t count, const type *host = nullptr)
{
    void *memory = nullptr;
    must_cuda(cudaMalloc(&memory, count * sizeof(type)));
    device_array<type> array(static_cast<type *>(memory));
    if (host != nullptr)
        must_cuda(cudaMemcpy(memory, host, count * sizeof(type), cudaMemcpyHostToDevice));
    return array;
}

static void average(std::size_t num_seqs, std::size_t seq_len)
{
    std::vector<float> x(num_seqs * seq_len), c(x.size(), 0.9f), y(x.size());
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = 0.1f * static_cast<float>(i % seq_len % 100);

    linrec_recurrence average = {};
    average.num_seqs = num_seqs, average.seq_len = seq_len;
    must(linrec_recurrence_workspace(&average, LINREC_FORWARD, &average.workspace_bytes));
    const auto inputs = on_device(x.size(), x.data()), coeffs = on_device(c.size(), c.data());
    const auto outputs = on_device<float>(y.size());
    const auto workspace = on_device<char>(average.workspace_bytes);

    average.inputs = inputs.get(), average.coeffs = coeffs.get(), average.outputs = outputs.get();
    average.workspace = workspace.get();
    must(linrec_workspace_init(average.workspace, average.workspace_bytes, nullptr));
    must(linrec_recurrence_forward(&average, nullptr));
    must_cuda(cudaMemcpy(y.data(), outputs.get(), y.size() * sizeof(float), cudaMemcpyDeviceToHost));

    double expected = 0.0;
    for (std::size_t l = 0; l < seq_len; l++)
        expected = 0.9 * expected + 0.1 * static_cast<double>(l % 100);
    std::printf("the average of the last sequence ends with %.4f; a loop says %.4f\n", static_cast<double>(y.back()),
                expected);
}

int main()
{
    try {
        average(3, 10000);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "library: %s\n", error.what());
        return 1;
    }
    return 0;
}
