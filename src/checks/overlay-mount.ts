import { dataFolderOf, RUNTIME_DATA_FOLDERS } from '../components/runtimes/index.ts';
import { inventoryOn } from '../model/inventory-on.ts';
import type { Check, Finding } from './check.ts';

export const overlayMount: Check = {
  name: 'overlay-mount',
  title: 'an overlay can be mounted and written to where the runtime will keep its data',
  why: `A survey: in a new folder below ${RUNTIME_DATA_FOLDERS}, and in a mount namespace of its own, an overlay is mounted, files are changed, renamed and removed, and all of it is taken away again. It fails on xfs without \`ftype=1\`, on network file systems, on overlayfs itself, and where the kernel or a security module forbids it: mount a disk with ext4 or xfs (\`ftype=1\`) at ${RUNTIME_DATA_FOLDERS}.`,
  severities: ['error'],
  test: ({ inventory, fleet: { surveys } }) =>
    (surveys?.overlays ?? []).flatMap((one): readonly Finding[] => {
      const host = one.host.name;
      if ('failed' in one) return [{ severity: 'unknown', host, message: `could not try an overlay: ${one.failed}` }];
      if ('skipped' in one || one.found === 'works') return [];
      return [
        {
          severity: 'error',
          host,
          message: `overlayfs does not work where ${dataFolderOf(inventoryOn(inventory, one.host))} lies: ${one.found.error}`,
          remedy: 'mount a disk with ext4 or xfs (ftype=1) there',
        },
      ];
    }),
};
