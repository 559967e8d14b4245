/** In every file of the lab's tests: a test that fails says where the logs are. */
import { beforeEach } from 'vitest';
import { currentRun, logsOf, whereLogsAre } from './test-run.ts';

const run = currentRun();
if (run !== undefined) {
  // kbuild's own logs lie beside those of the hosts.
  process.env['XDG_STATE_HOME'] ??= logsOf(run);
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => console.error(whereLogsAre(run)));
  });
}
