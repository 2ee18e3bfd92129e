// The program around a precompiled header; it is never run.
int main() { return 0; }
