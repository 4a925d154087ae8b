/* A stand-in for the driver's library. Nearly all of its functions are written in Python: entries.py
   provides them, in the Python process that loads this library. */

#include <string.h>

typedef struct Object Object;
extern int PyGILState_Ensure(void);
extern void PyGILState_Release(int);
extern Object *PyImport_ImportModule(const char *);
extern Object *PyObject_CallMethod(Object *, const char *, const char *, ...);
extern void *PyLong_AsVoidPtr(Object *);
extern void PyErr_Print(void);
extern void Py_DecRef(Object *);

enum { SUCCESS = 0, NOT_FOUND = 500 };

/* The functions that release resources are called after Python has ended. */
static int do_nothing(void) { return SUCCESS; }

static void *find(const char *name) {
    if (!strcmp(name, "cuLibraryUnload") || !strcmp(name, "cuDevicePrimaryCtxRelease"))
        return (void *)do_nothing;
    void *address = 0;
    int gil_state = PyGILState_Ensure();
    Object *entries = PyImport_ImportModule("tests.ptx.driver.entries");
    Object *number = entries ? PyObject_CallMethod(entries, "address", "s", name) : 0;
    if (number)
        address = PyLong_AsVoidPtr(number);
    else
        PyErr_Print();
    Py_DecRef(number);
    Py_DecRef(entries);
    PyGILState_Release(gil_state);
    return address;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags,
                        int *status) {
    *function = find(name);
    if (status)
        *status = !*function;
    return *function ? SUCCESS : NOT_FOUND;
}

/* The functions that the engine finds by name, before it imports NVIDIA's packages. */
#define ENTRY(name, types, values) \
    int name types { return ((int(*) types)find(#name)) values; }

ENTRY(cuInit, (unsigned flags), (flags))
ENTRY(cuDriverGetVersion, (int *version), (version))
ENTRY(cuDeviceGetCount, (int *count), (count))
ENTRY(cuDeviceGet, (int *device, int number), (device, number))
ENTRY(cuDeviceGetName, (char *name, int size, int device), (name, size, device))
ENTRY(cuDeviceTotalMem_v2, (size_t *bytes, int device), (bytes, device))
ENTRY(cuDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, device))
ENTRY(cuGetErrorString, (int code, const char **text), (code, text))
