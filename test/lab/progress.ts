const started = performance.now();

/** One line on stderr with the seconds since the start. Silent in tests, unless KBUILD_LAB_VERBOSE is set. */
export function progress(message: string): void {
  if (process.env['VITEST'] !== undefined && process.env['KBUILD_LAB_VERBOSE'] === undefined) return;
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  process.stderr.write(`[${seconds} s] ${message}\n`);
}
