import { dataFolderOf, RUNTIME_DATA_FOLDERS } from '../components/runtimes/index.ts';
import { eachHost } from './each-host.ts';

const UNFIT = /^(?:overlay|aufs|nfs4?|cifs|smb3|9p|virtiofs|fuse\..*|fuseblk|ecryptfs|vfat|exfat|ntfs3?)$/;

export const overlayStorage = eachHost(
  {
    name: 'overlay-storage',
    title: "the runtime's folder is on a file system that overlayfs works on",
    why: `overlayfs cannot lie on itself, nor on network and FUSE file systems: mount a disk with ext4 or xfs (\`ftype=1\`) at ${RUNTIME_DATA_FOLDERS}.`,
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    const volume = facts.storage.find(({ path }) => path === dataFolderOf(inventory));
    if (volume === undefined || !UNFIT.test(volume.fileSystem)) return [];
    return [
      {
        severity: 'error',
        message: `${volume.path} lies on ${volume.fileSystem} (${volume.mountPoint}), where overlayfs does not work`,
        remedy: 'mount a disk with ext4 or xfs there',
      },
    ];
  },
);
