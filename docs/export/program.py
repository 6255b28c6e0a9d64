"""What the three programs share: a device and its kernels, launches with their times, and a report."""
import statistics
import sys

import pyopencl

RUNS = 21  # after one that is not measured


class Program:
    def __init__(self, exported, *sizes):
        """Take the device whose record matches best, and build the kernels of an exported module for it."""
        choices = []
        for platform in pyopencl.get_platforms():
            for device in platform.get_devices():
                try:
                    choices.append((device, exported.choose(device, *sizes)))
                except ValueError as error:
                    sys.exit("there is no launch for these sizes: %s" % error)
        if not choices:
            sys.exit("there is no device of OpenCL")
        device, self.choice = min(choices, key=lambda c: c[1].level)
        self.exported = exported
        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context, properties=pyopencl.command_queue_properties.PROFILING_ENABLE)
        built = pyopencl.Program(self.context, exported.source).build(options=self.choice.options)
        self.kernels = [pyopencl.Kernel(built, name) for name in exported.kernels]
        self.times = []  # milliseconds of all kernels of a run

    def buffer(self, content):
        flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
        return pyopencl.Buffer(self.context, flags, hostbuf=content)

    def run(self, buffers):
        """Make all launches. The first run is not measured."""
        events = [self.launch(launch) for launch in self.exported.launches(self.choice, buffers)]
        self.queue.finish()
        self.times.append(sum(event.profile.end - event.profile.start for event in events) / 1e6)

    def launch(self, launch):
        kernel = self.kernels[launch.kernel]
        kernel.set_args(*[pyopencl.LocalMemory(a.value.bytes) if isinstance(a.value, self.exported.LocalMemory) else a.value
                          for a in launch.arguments])
        return pyopencl.enqueue_nd_range_kernel(self.queue, kernel, launch.global_size, launch.local_size,
                                                global_work_offset=launch.offset)

    def report(self, what):
        times, record = self.times[1:], self.choice.record
        print("%s: the result is right\n  %s: %s\n  %s" % (what, record.device.name, self.choice.matched, " ".join(self.choice.options)))
        print("  median of the kernels' times: %.4f ms (%.4f to %.4f); that of the search: %.4f ms" %
              (statistics.median(times), min(times), max(times), record.time))
