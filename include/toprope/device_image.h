/* What a device binary of toprope looks like.
 *
 * A device binary is an ELF shared object for this machine's processor that exports one symbol, TOPROPE_DEVICE_IMAGE: a table
 * of its kernels and device variables. `toprope c++` makes it; the runtime loads one instance per device, so that each device
 * has its own copy of every variable. This file is the whole agreement between the two. C99 and C++11.
 *
 * A launch passes its arguments as one block: the members of a C structure with the kernel's parameters in order, each aligned to its
 * own alignment, but to 4 bytes at least. `params` says so for each parameter, so nobody else computes it.
 */
#ifndef TOPROPE_DEVICE_IMAGE_H
#define TOPROPE_DEVICE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* First word of a table ("TPDI"), and the version of this file that it was made with. */
#define TOPROPE_IMAGE_MAGIC 0x49445054u
#define TOPROPE_IMAGE_VERSION 1u

/* Which cores a kernel runs on. */
enum toprope_core {
    TOPROPE_CORE_MIX = 0, /* cube and vector cores together, or one kind that does both */
    TOPROPE_CORE_CUBE = 1,
    TOPROPE_CORE_VECTOR = 2
};

struct toprope_block;

/* What device code may ask of the runtime while a block runs. */
struct toprope_services {
    uint32_t size; /* of this structure, in bytes: a later version only adds members */
    uint32_t reserved;
    /* Returns when every block of the launch has called it as often as this one. */
    void (*sync_all)(const struct toprope_block *block);
    /* Writes `length` bytes of text to the program's standard output, not mixed with those of other blocks. */
    void (*print)(const struct toprope_block *block, const char *text, size_t length);
};

/* One block of a launch; lives as long as the block runs. */
struct toprope_block {
    uint32_t index;     /* of the block, from 0 */
    uint32_t count;     /* blocks of the launch */
    uint32_t sub_index; /* of the vector core within the block, from 0 */
    uint32_t sub_count; /* vector cores per block */
    const struct toprope_services *services;
};

/* A parameter's place in the argument block, in bytes. */
struct toprope_param {
    uint32_t offset;
    uint32_t size;
};

struct toprope_kernel {
    const char *name; /* as the linker knows the kernel: mangled, unless extern "C" */
    /* Runs one block on the calling thread. The block keeps both pointers valid until this returns. */
    void (*entry)(const void *arguments, const struct toprope_block *block);
    const struct toprope_param *params;
    uint32_t param_count;
    uint32_t arguments_size; /* of the argument block, in bytes */
    uint32_t core;           /* enum toprope_core */
    uint32_t reserved;
};

struct toprope_variable {
    const char *name; /* as the linker knows the variable */
    void *address;    /* in this instance of the image */
    uint64_t size;    /* bytes */
};

struct toprope_image {
    uint32_t magic;   /* TOPROPE_IMAGE_MAGIC */
    uint32_t version; /* TOPROPE_IMAGE_VERSION */
    uint32_t kernel_count;
    uint32_t variable_count;
    const struct toprope_kernel *const *kernels;
    const struct toprope_variable *variables;
};

/* The exported symbol, and its name for whoever looks it up. */
#define TOPROPE_DEVICE_IMAGE "toprope_device_image"
extern const struct toprope_image toprope_device_image;

#ifdef __cplusplus
}
#endif

#endif
