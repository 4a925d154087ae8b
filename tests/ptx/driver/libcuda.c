/* The driver's library, of which nearly nothing is here: whoever asks for a function gets one that
   entries.py makes, in the process of Python that loads this library. */

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

/* What is given back when Python has ended. */
static int nothing(void) { return SUCCESS; }

static void *find(const char *name) {
    if (!strcmp(name, "cuLibraryUnload") || !strcmp(name, "cuDevicePrimaryCtxRelease"))
        return (void *)nothing;
    void *address = 0;
    int held = PyGILState_Ensure();
    Object *entries = PyImport_ImportModule("tests.ptx.driver.entries");
    Object *found = entries ? PyObject_CallMethod(entries, "address", "s", name) : 0;
    if (found)
        address = PyLong_AsVoidPtr(found);
    else
        PyErr_Print();
    Py_DecRef(found);
    Py_DecRef(entries);
    PyGILState_Release(held);
    return address;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags,
                        int *status) {
    *function = find(name);
    if (status)
        *status = !*function;
    return *function ? SUCCESS : NOT_FOUND;
}

/* What the engine finds by name, before it imports anything of NVIDIA's. */
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
