/* receiver - a datagram socket at a path: prints `ready`, then what comes */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char buffer[4096];
	ssize_t n;
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	strcpy(address.sun_path, argv[1]);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	while ((n = read(fd, buffer, sizeof(buffer))) >= 0)
		if (write(1, buffer, (size_t)n) < 0)
			return 1;
	return 0;
}
