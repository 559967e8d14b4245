import type { PackageRepository } from '../inventory/inventory.ts';
import type { HandlerKind } from '../inventory/runtime-handlers.ts';

/** The repositories of kbuild with packages of handlers. */
export type HandlerRepositoryId = 'gvisor' | 'nvidia';

/** The package that brings a handler's program. */
export interface HandlerPackage {
  readonly id: HandlerRepositoryId;
  readonly name: string;
  /** Where the package puts the program. */
  readonly path: string;
  /** An empty URL: there is none for this format of packages. */
  readonly repository: PackageRepository;
}

/** Properties of a kind of handler, for other parts of kbuild. Each runtime has the tables for its configuration. */
interface HandlerComponent {
  /** Its name in messages. */
  readonly title: string;
  /** Paths of the programs that its pods need, from the path in the inventory. */
  readonly programs: (path: string) => readonly string[];
  /** A device without which its pods do not start, and the source of that device. */
  readonly device?: { readonly path: string; readonly by: string };
  /** undefined: kbuild knows no package of it. */
  readonly packaged?: HandlerPackage;
  /** True if the inventory may name a configuration file of its own. */
  readonly takesConfig: boolean;
}

/** The folder of a program's path. */
const beside = (path: string, name: string): string => `${path.slice(0, path.lastIndexOf('/'))}/${name}`;

/** The program that starts sandboxes of gVisor for the runtime; it is published beside runsc. */
export const runscShim = (path: string): string => beside(path, 'containerd-shim-runsc-v1');

/** There is no repository for this format of packages. */
const NO_REPOSITORY = { url: '', key: { url: '' }, fingerprint: '' } as const;

/** Fingerprint of website/archive.key in gVisor's sources, which is https://gvisor.dev/archive.key. */
const GVISOR_KEY = '6F1DF85E3A71C24918E727D56FC6D554E32BD943';

const NVIDIA = 'https://nvidia.github.io/libnvidia-container';
const NVIDIA_RPM = 'https://nvidia.github.io/libnvidia-container/stable/rpm';

/** NVIDIA's lists are signed, and its own description of the repository asks for no signature of each package. */
const nvidiaSource = (url: string) => ({
  url,
  key: { url: `${NVIDIA}/gpgkey` },
  fingerprint: 'C95B321B61E88C1809C4F759DDCAE044F796ECB0',
  signs: 'metadata' as const,
});

/** Every kind of handler that an inventory can name. */
export const HANDLERS: Readonly<Record<HandlerKind, HandlerComponent>> = {
  crun: { title: 'crun', programs: (path) => [path], takesConfig: false },
  kata: {
    title: 'Kata Containers',
    programs: (path) => [path],
    device: { path: '/dev/kvm', by: 'a processor with virtualization that the firmware or the hypervisor permits' },
    takesConfig: true,
  },
  nvidia: {
    title: 'the NVIDIA Container Toolkit',
    programs: (path) => [path],
    device: { path: '/dev/nvidiactl', by: "NVIDIA's driver" },
    packaged: {
      id: 'nvidia',
      name: 'nvidia-container-toolkit',
      path: '/usr/bin/nvidia-container-runtime',
      // Both package managers replace the name of the architecture themselves.
      repository: {
        ...nvidiaSource(`${NVIDIA}/stable/deb/$(ARCH)`),
        rpm: nvidiaSource(`${NVIDIA_RPM}/$basearch`),
      },
    },
    takesConfig: false,
  },
  runsc: {
    title: 'gVisor',
    programs: (path) => [path, runscShim(path)],
    packaged: {
      id: 'gvisor',
      name: 'runsc',
      path: '/usr/bin/runsc',
      repository: {
        url: 'https://storage.googleapis.com/gvisor/releases',
        suite: 'release',
        component: 'main',
        key: { url: 'https://gvisor.dev/archive.key' },
        fingerprint: GVISOR_KEY,
        rpm: NO_REPOSITORY,
      },
    },
    takesConfig: false,
  },
};
