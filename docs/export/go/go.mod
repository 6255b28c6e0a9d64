// The programs are built in the folder of run.sh, where the exported packages are. This file keeps them out of ndtune's module.
module example.com/programs/go

go 1.26.0
