package cl

// What to install, in the words of the errors that need it.

const installLoader = `Install the OpenCL loader:
  Debian, Ubuntu: apt install ocl-icd-libopencl1
  Fedora:         dnf install ocl-icd (newer releases: OpenCL-ICD-Loader)
  Windows:        the GPU vendor's driver brings OpenCL.dll
or name another library in ` + LibraryVariable + `. ` + installDriver

const installDriver = `A device needs its driver besides:
  Debian, Ubuntu: apt install pocl-opencl-icd (any CPU), intel-opencl-icd, mesa-opencl-icd, nvidia-opencl-icd (Ubuntu: nvidia-driver-…), AMD's ROCm
  Fedora:         dnf install pocl (any CPU), intel-compute-runtime, mesa-libOpenCL, rocm-opencl, xorg-x11-drv-nvidia-cuda (RPM Fusion)
  Windows:        the driver of AMD, Intel or NVIDIA; Intel's OpenCL CPU runtime
In a container, the device files (/dev/dri, /dev/nvidia*) and the driver's .icd file in /etc/OpenCL/vendors must be visible.
The command clinfo shows what OpenCL sees.`
