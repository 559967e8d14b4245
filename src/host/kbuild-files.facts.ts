import type { Inventory } from '../inventory/inventory.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { containerRuntime, runtimeFiles } from '../runtime/runtimes.value.ts';
import { onceForEach } from '../shell/memo.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';
import { chronyFiles, keyringFiles, packageManagerFiles } from './packages/distributions.value.ts';

/** Files that kbuild owns by their names, whatever is in them. */
const OWN_NAMES = [...keyringFiles, paths.fstabBackup, paths.haproxyConfigBackup, paths.keepalivedConfigBackup];

/** Folders that kbuild owns. */
const OWN_FOLDERS: readonly string[] = [paths.state, paths.kubeadmPatches];

const MARKED = [
  ...packageManagerFiles,
  ...chronyFiles,
  ...Object.values(paths).filter((path) => path.startsWith('/etc/') && !OWN_FOLDERS.includes(path)),
];

/** Files and folders that kbuild wrote on the host and that `reset` removes. */
export const ownFiles = onceForEach((inventory: Inventory) => {
  const runtime = containerRuntime(inventory);
  const { backup } = runtime.paths;
  const command = script('host/probe-own-files.sh', {
    HEADER: OWN_HEADER,
    MARKED: [...MARKED, ...runtimeFiles(runtime)],
    NAMES: [...OWN_NAMES, ...(backup === undefined ? [] : [backup]), ...OWN_FOLDERS],
  });
  return probeInPlace({ ...command, script: `${command.script}\n${runtime.ownRegistryFiles.script}` }, (out) =>
    lines(out),
  );
});

/** Paths of the files that kbuild distributed to the host (`files:` of the inventory), from its record there. */
export const distributedFiles = probeInPlace(
  using('host/show-text.sh', sh`if [ -e ${paths.distributed} ]; then show_text ${paths.distributed}; fi`),
  (out): readonly string[] => lines(out),
);
