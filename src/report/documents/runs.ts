import * as z from 'zod';
import { cluster, document, listOf, number, text } from './fields.ts';

const run = text('Identity of the run, e.g. `20261121t165045z-0a1b2c3d`.');
const command = text('As the operator types it, e.g. `etcd snapshot save`.');
const time = text('When the run started: ISO 8601.');

/** `kbuild report --json` */
export const report = document('What `kbuild report --json` prints: what it wrote.', {
  cluster,
  run,
  command,
  time,
  page: text('Path of the HTML file.').exactOptional(),
  trace: text('Path of the Chrome trace.').exactOptional(),
});

/** `kbuild report --list --json` */
export const runs = document('What `kbuild report --list --json` prints: the recorded runs, the newest first.', {
  cluster,
  runs: listOf(
    z.object({
      run,
      command,
      path: text('Of its record.'),
      time: time.exactOptional(),
      exitCode: number('Missing where the run has no end: it was killed, or still runs.').exactOptional(),
      result: text('Its last line. Missing where the run has no end.').exactOptional(),
      durationMs: number('How long it took, in ms. Missing where the run has no end.').exactOptional(),
      unreadable: text('Why its record cannot be read.').exactOptional(),
    }),
    'One for each record.',
  ),
});
