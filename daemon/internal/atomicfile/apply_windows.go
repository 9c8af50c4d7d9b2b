package atomicfile

import (
	"io/fs"
	"os"
)

func replaceable(*os.File, fs.FileInfo) bool { return true }

func linksOf(fs.FileInfo) Links { return Links{} }

func keepOwner(*os.File, fs.FileInfo) error { return nil }

// syncFolder does nothing: Windows has no sync of a folder.
func syncFolder(*os.File) error { return nil }
