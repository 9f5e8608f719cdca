/* Values for the kernel's FUSE, see tripwire_service.h. */
#include <limits.h>
#include <string.h>

#include "tripwire_service.h"

/* As in getdents64(2): no header has it. */
struct host_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

void fill_attributes(const struct stat *status, struct fuse_attr *ret)
{
	*ret = (struct fuse_attr){
		.ino = status->st_ino,
		.size = (uint64_t)status->st_size,
		.blocks = (uint64_t)status->st_blocks,
		.atime = (uint64_t)status->st_atim.tv_sec,
		.mtime = (uint64_t)status->st_mtim.tv_sec,
		.ctime = (uint64_t)status->st_ctim.tv_sec,
		.atimensec = (uint32_t)status->st_atim.tv_nsec,
		.mtimensec = (uint32_t)status->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)status->st_ctim.tv_nsec,
		.mode = status->st_mode,
		.nlink = (uint32_t)status->st_nlink,
		.uid = status->st_uid,
		.gid = status->st_gid,
		.blksize = (uint32_t)status->st_blksize,
	};
}

size_t pack_entry(uint64_t inode, uint64_t offset, unsigned type,
		  const char *name, char *ret_packed, size_t size)
{
	size_t length = strnlen(name, NAME_MAX);
	size_t needed = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
	struct fuse_dirent entry = {
		.ino = inode,
		.off = offset,
		.namelen = (uint32_t)length,
		.type = type,
	};

	if (needed > size)
		return 0;
	memset(ret_packed, 0, needed);
	memcpy(ret_packed, &entry, FUSE_NAME_OFFSET);
	memcpy(ret_packed + FUSE_NAME_OFFSET, name, length);
	return needed;
}

size_t pack_entries(const char *entries, size_t length, char *ret_packed,
		    size_t size)
{
	struct host_entry entry;
	size_t packed = 0, one;

	for (size_t at = 0; at + sizeof(entry) <= length; at += entry.length) {
		memcpy(&entry, entries + at, sizeof(entry));
		one = pack_entry(
			entry.inode, (uint64_t)entry.offset, entry.type,
			entries + at + offsetof(struct host_entry, name),
			ret_packed + packed, size - packed);
		if (one == 0 || entry.length == 0)
			break;
		packed += one;
	}
	return packed;
}
