/** A process that computes until its parent is gone or ends it: what a crowded machine is made of. */
const parent = process.ppid;
const LOOK_MS = 200;

for (;;) {
  for (const untilMs = performance.now() + LOOK_MS; performance.now() < untilMs; );
  if (process.ppid !== parent) process.exit(0);
}
