import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for all temporary files of a run, which goes with it. Its name is short: paths of sockets lie below it. */
export function setup(): () => void {
  const { TMPDIR: before } = process.env;
  const folder = mkdtempSync(join(tmpdir(), 'kb-'));
  // Other users go through to what is theirs, but see no names.
  chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  return () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true, force: true });
  };
}
