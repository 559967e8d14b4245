import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { networkPlugins } from '../../components/network-plugins/index.ts';
import { withRuntime } from '../../components/runtimes/index.ts';
import { eachLimit } from '../../each-limit.ts';
import { isWindowsRemote } from '../../remote/host-remote.ts';
import type { Command } from '../../shell/command.ts';
import type { WindowsRemote } from '../../remote/windows/windows-remote.ts';
import { bundleInventory } from '../../report/bundle-inventory.ts';
import { maskedInPieces } from '../../report/mask.ts';
import { tarGz, type Entry } from '../../report/tar.ts';
import { jsonText } from '../../report/visible.ts';
import { powershell, script, using } from '../../templates.ts';
import { supportOfWindows, type Section } from '../../windows/support-sections.ts';
import type { Run } from './run.ts';

const AT_ONCE = 20;
const MAX_LOG = 50 * 1024 * 1024;

/** Logs and states of a Windows host: sections that begin with `== `, each with the error of what it could not read. */
export async function gathered(remote: WindowsRemote, sections: readonly Section[], title: string): Promise<string> {
  const answer = await remote.ask({ ...powershell('windows/gather.ps1', { Sections: sections }), title });
  const texts = JSON.parse(answer) as readonly { readonly title: string; readonly text: string }[];
  return texts.map(({ title: head, text }) => `== ${head}\n${text.replaceAll('\r', '').trimEnd()}\n`).join('');
}

/** What the archive needs of a run. */
type BundleRun = Pick<Run, 'connected' | 'context' | 'inventory' | 'logPath' | 'mask' | 'startedMs'>;

/** A command that may use the function of avc-denials.sh, for denials since the run began: hosts' clocks may differ from ours. */
export const withDenials = (
  { context, startedMs }: Pick<BundleRun, 'context' | 'startedMs'>,
  command: Command<'sh'>,
): Command<'sh'> => {
  const age = Math.ceil((context.nowMs() - startedMs) / 1000);
  return using(script('linux/avc-denials.sh', { AGE: String(age) }), command);
};

/**
 * Writes a support bundle: the resolved inventory (without secrets and without contents of files and manifests), the run's
 * log, and logs and states of every host. Masks secrets everywhere; the file is 0600. @throws the file system's error
 */
export async function writeBundle(run: BundleRun, path: string): Promise<void> {
  const { connected, inventory, mask } = run;
  const remotes = connected.remotes;
  const gather = withDenials(
    run,
    script('linux/support.sh', { NAMESPACES: networkPlugins.flatMap(({ namespaces }) => namespaces) }),
  );
  const results = await eachLimit(remotes, AT_ONCE, async (remote): Promise<Entry> => {
    const name = `hosts/${remote.host.name}.txt`;
    const title = 'gather for the bundle';
    if (isWindowsRemote(remote)) return { name, text: await gathered(remote, supportOfWindows, title) };
    const { stdout, stderr } = await remote.ask({ ...withRuntime(inventory, remote.host, gather), title });
    return { name, text: stdout + stderr };
  });
  const unreachable = connected.observations
    .fleet()
    .unreachable.map(({ host, error }) => `${host.name}: ${error.message}`);
  const failed = results.flatMap((result, i) =>
    result.status === 'rejected' ? [`${remotes[i]!.host.name}: ${(result.reason as Error).message}`] : [],
  );
  const entries: readonly Entry[] = [
    { name: 'inventory.json', text: `${jsonText(bundleInventory(inventory), 2)}\n` },
    { name: 'run.log', text: readFileSync(run.logPath, 'utf8').slice(-MAX_LOG) },
    { name: 'not-asked.txt', text: [...unreachable, ...failed, ''].join('\n') },
    ...results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
  ];
  const masked: Entry[] = [];
  for (const { name, text } of entries)
    masked.push({ name: `kbuild-bundle/${name}`, text: await maskedInPieces(text, mask) });
  const archive = tarGz(masked, run.context.nowMs());
  const temporary = `${path}.${String(process.pid)}`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(file, archive);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  run.context.err(`support bundle: ${path}\n`);
}
