// A shared object that registers no kernels.
extern "C" int drywell_nothing() { return 0; }
