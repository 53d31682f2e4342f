/* What the kernel programs share: start, an asynchronous launch's values, and standard output read back. Built by `toprope c++`. */
#ifndef KERNEL_H
#define KERNEL_H

#include "kernel_operator.h"
#include "runtime.h"

#include <string>
#include <unistd.h>

/* Memory of the device that holds `count` values, all of them zero. */
template <class T> static T *kernel_zeros(size_t count) {
    void *memory = nullptr;
    CHECK_OK(aclrtMalloc(&memory, count * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(memory, count * sizeof(T), 0, count * sizeof(T)));
    return static_cast<T *>(memory);
}

/* One value of device memory. */
template <class T> static T kernel_value(const T *device, size_t index = 0) {
    T value = T();
    CHECK_OK(aclrtMemcpy(&value, sizeof value, device + index, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

/* Standard output while it lives, as text: what kernels print arrives there when their stream is synchronized. */
class Captured {
public:
    Captured() : file_(tmpfile()), before_(dup(1)) {
        fflush(stdout);
        if (file_ == nullptr || before_ < 0 || dup2(fileno(file_), 1) < 0) abort();
    }
    std::string end() {
        fflush(stdout);
        if (dup2(before_, 1) < 0) abort();
        close(before_);
        std::string text;
        char part[4096];
        rewind(file_);
        for (size_t n; (n = fread(part, 1, sizeof part, file_)) > 0;) text.append(part, n);
        fclose(file_);
        return text;
    }

private:
    FILE *file_;
    int before_;
};

#endif
