/* The only program of an image: it shows what it was given, and does what its arguments say. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void stop(int number) {
  (void)number;
  static const char text[] = "told to stop\n";
  if (write(1, text, sizeof text - 1)) _exit(0);
}

int main(int count, char **words) {
  char folder[4096];
  for (int n = 1; n < count; n++) printf("argument %s\n", words[n]);
  for (char **each = environ; *each; each++) printf("variable %s\n", *each);
  printf("folder %s\nuser %d\n", getcwd(folder, sizeof folder), (int)getuid());
  fflush(stdout);
  const char *last = count > 1 ? words[count - 1] : "";
  if (!strncmp(last, "exit=", 5)) {
    fprintf(stderr, "the model is too small\n");
    return atoi(last + 5);
  }
  if (!strncmp(last, "read=", 5)) {
    char text[4096];
    FILE *file = fopen(last + 5, "r");
    if (!file) return 9;
    while (fgets(text, sizeof text, file)) printf("read %s", text);
  }
  if (!strcmp(last, "sleep")) {
    signal(SIGTERM, stop);
    puts("sleeps");
    fflush(stdout);
    for (;;) pause();
  }
  return 0;
}
