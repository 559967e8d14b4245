import { paths } from '../../paths.ts';
import { script } from '../../templates.ts';
import { lines, probe } from '../../shell/probe.ts';

/** The first words of the files that kbuild writes; a file without them is unmanaged. */
export const OWN_HEADER = '# Written by kbuild';

/** Files that kbuild owns by their names, whatever is in them. */
const OWN_NAMES = [
  paths.kubernetesKeyring,
  paths.containerdKeyring,
  paths.fstabBackup,
  paths.containerdConfigBackup,
  paths.haproxyConfigBackup,
  paths.keepalivedConfigBackup,
];

/** Folders that kbuild owns. */
const OWN_FOLDERS = [paths.state, paths.kubeadmPatches];

const FOLDERS: ReadonlySet<string> = new Set([paths.aptSources, paths.aptKeyrings, paths.certsD, ...OWN_FOLDERS]);

const MARKED = Object.values(paths).filter((path) => path.startsWith('/etc/') && !FOLDERS.has(path));

/** Files and folders that kbuild wrote on the host and that `reset` removes. */
export const ownFiles = probe(
  script('linux/probe-own-files.sh', {
    HEADER: OWN_HEADER,
    MARKED,
    NAMES: [...OWN_NAMES, ...OWN_FOLDERS],
    CERTS_D: paths.certsD,
  }),
  (out) => lines(out),
);
