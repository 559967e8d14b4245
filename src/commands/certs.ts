import { rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { mostSerious, UsageError, worstExitCode } from '../errors.ts';
import { selects } from '../inventory/hosts.ts';
import { certificatesMetrics, certificatesText, certificatesView, hasExpired } from '../report/certificates.ts';
import { unreachableText } from '../report/failure.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from '../session/context.ts';
import { withRun } from '../session/with-run.ts';
import { systemText } from '../shell/text.ts';
import type { CertsOptions } from './certs.command.ts';

const NOT_HEALTHY = 5;
const NOT_READ = 3;

/** Replaces a file whole, so that no reader sees half of it. @throws UsageError if it cannot be written */
async function replaceFile(path: string, content: string): Promise<void> {
  // node_exporter reads every file that ends with .prom.
  const temporary = `${path}.${String(process.pid)}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o644, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new UsageError(`the metrics cannot be written: ${systemText(error)}`, {
      remedy: 'name another file with --metrics FILE',
      cause: error,
    });
  }
}

/** `kbuild certs`: every certificate on every host. Reads only. */
export const runCerts = (outer: Context, flags: CertsOptions): Promise<number> =>
  withRun(outer, flags, { command: 'certs', json: 'document', reportsUnreachable: true }, async (run) => {
    const { context, inventory, connected } = run;
    const fleet = connected.observations.fleet();
    const view = certificatesView(inventory, fleet, (host) => selects(run.flags.hosts, host));
    if (flags.metrics !== undefined)
      await replaceFile(resolve(context.cwd, flags.metrics), certificatesMetrics(view, context.nowMs()));
    const missing = fleet.unreachable.filter(({ host }) => selects(run.flags.hosts, host.name));
    if (flags.json === true) context.out(jsonDocument<'certs'>(view));
    else {
      const named = new Set(missing.map(({ host }) => host.name));
      context.out(certificatesText({ ...view, unknown: view.unknown.filter(({ host }) => !named.has(host)) }));
      context.err(unreachableText(missing));
    }
    return mostSerious([
      worstExitCode(missing.map(({ error }) => error)),
      view.unknown.length > 0 ? NOT_READ : 0,
      hasExpired(view) ? NOT_HEALTHY : 0,
    ]);
  });
