import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { TAR_BLOCK, tarHeader } from '../backup/archive.ts';
import type { Inventory, UserManifest } from '../inventory/inventory.ts';
import { eachLimit } from '../limit.ts';
import { networkPlugins } from '../network/plugins.value.ts';
import { maskedInPieces } from '../report/mask.ts';
import { jsonText } from '../report/text.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { objectsOf, textIn, within } from '../shell/decode.ts';
import { Secret, sha256Of } from '../shell/secret.ts';
import { isWindowsRemote, type WindowsRemote } from '../ssh/windows.ts';
import { powershell, script, using } from '../templates.ts';
import { type Section, supportOfWindows } from '../windows/support.ts';
import type { Run } from './run.ts';

/** Without the hash of a Secret: a reader who knows the rest of the object could guess a short value from it. */
const listed = ({ source, objects }: UserManifest): object => ({
  source,
  objects: objects.map((object) => {
    const { apiVersion, kind } = object;
    const { name, namespace } = within(object, 'metadata');
    return {
      apiVersion,
      kind,
      namespace,
      name,
      ...(kind === 'Secret' ? {} : { sha256: sha256Of(JSON.stringify(object)) }),
    };
  }),
});

const summary = (content: string): object => ({ bytes: Buffer.byteLength(content), sha256: sha256Of(content) });

/** An inventory for a support bundle, with only the names and hashes of manifests, distributed files and patches. */
export function bundleInventory(inventory: Inventory): object {
  const { files, manifests, network, kubeadm } = inventory;
  return {
    ...inventory,
    files: files.map(({ content, ...file }) => ({
      ...file,
      content: content instanceof Secret ? content : summary(content),
    })),
    manifests: manifests.map(listed),
    network: { ...network, manifests: network.manifests.map(listed) },
    kubeadm: {
      ...kubeadm,
      patches: Object.fromEntries(Object.entries(kubeadm.patches).map(([name, content]) => [name, summary(content)])),
    },
  };
}

/** One text file of an archive. */
export interface Entry {
  /** At most 100 bytes, relative. */
  readonly name: string;
  readonly text: string;
}

/** A gzipped tar archive (POSIX ustar) of text files, all 0600. */
export function tarGz(entries: readonly Entry[], nowMs: number): Buffer {
  const blocks = entries.flatMap(({ name, text }) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK);
    return [tarHeader(name, content.length, nowMs), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK)]));
}

const AT_ONCE = 20;
const MAX_LOG = 50 * 1024 * 1024;

/** Logs and states of a Windows host: sections that begin with `== `, each with the error of what it could not read. */
export async function gathered(remote: WindowsRemote, sections: readonly Section[], title: string): Promise<string> {
  const answer = await remote.ask({ ...powershell('windows/gather.ps1', { Sections: sections }), title });
  return objectsOf(JSON.parse(answer))
    .map(({ title: head, text }) => `== ${textIn(head)}\n${textIn(text).replaceAll('\r', '').trimEnd()}\n`)
    .join('');
}

/** What the archive needs of a run. */
type BundleRun = Pick<Run, 'connected' | 'context' | 'inventory' | 'logPath' | 'mask' | 'startedMs'>;

/**
 * A command that may use the function of avc-denials.sh, for denials since the run began: hosts' clocks may differ from
 * ours.
 */
export const withDenials = (
  { context, startedMs }: Pick<BundleRun, 'context' | 'startedMs'>,
  command: Command<'sh'>,
): Command<'sh'> => {
  const age = Math.ceil((context.nowMs() - startedMs) / 1000);
  return using(script('session/avc-denials.sh', { AGE: String(age) }), command);
};

/**
 * Writes a support bundle: the resolved inventory (without secrets and without contents of files and manifests), the
 * run's log, and logs and states of every host. Masks secrets everywhere; the file is 0600. @throws the file system's
 * error
 */
export async function writeBundle(run: BundleRun, path: string): Promise<void> {
  const { connected, inventory, mask } = run;
  const remotes = connected.remotes;
  const gather = withDenials(
    run,
    script('session/support.sh', { NAMESPACES: networkPlugins.flatMap(({ namespaces }) => namespaces) }),
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
