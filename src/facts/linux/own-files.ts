import { paths } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

/** The first words of the files that kbuild writes: how it tells its own from others'. */
export const OWN_HEADER = '# Written by kbuild';

/** Files that are kbuild's whatever they say: they have names of its own. */
const OWN_NAMES = [
  paths.kubernetesKeyring,
  paths.containerdKeyring,
  paths.fstabBackup,
  paths.containerdConfigBackup,
  paths.haproxyConfigBackup,
  paths.keepalivedConfigBackup,
];

/** Folders that are kbuild's. */
const OWN_FOLDERS = [paths.state, paths.kubeadmPatches];

const FOLDERS: ReadonlySet<string> = new Set([paths.aptSources, paths.aptKeyrings, paths.certsD, ...OWN_FOLDERS]);

const MARKED = Object.values(paths).filter((path) => path.startsWith('/etc/') && !FOLDERS.has(path));

/** What kbuild wrote on the host and `reset` takes back: files with its header or of its names, its folders. */
export const ownFiles = probe(
  sh`grep -lsF -e ${OWN_HEADER} -- ${MARKED} || true
     ls -d -- ${OWN_NAMES} ${OWN_FOLDERS} 2>/dev/null || true
     if [ -d ${paths.certsD} ]; then
       find ${paths.certsD} -name hosts.toml -exec grep -lF -e ${OWN_HEADER} -- {} + | while read -r file; do
         echo "$file"
         ls "$(dirname "$file")/ca.crt" 2>/dev/null || true
       done
     fi`,
  (out) => lines(out),
);
