import { goTexts, moduleFolder, requiredVersion } from './go-source.ts';

/** The versions that stand for a minor: those whose modules can be had and verified. */
export interface Release {
  readonly minor: string;
  readonly kubernetes: string;
  /** The etcd that kubeadm of this version installs (its constants.go). */
  readonly etcd: string;
}

/** Each is compared with the one before. */
export const RELEASES: readonly Release[] = [
  { minor: '1.33', kubernetes: '1.33.4', etcd: '3.5.21' },
  { minor: '1.34', kubernetes: '1.34.4', etcd: '3.6.5' },
  { minor: '1.35', kubernetes: '1.35.8', etcd: '3.6.6' },
  { minor: '1.36', kubernetes: '1.36.3', etcd: '3.6.8' },
  { minor: '1.37', kubernetes: '1.37.1', etcd: '3.7.0' },
];

const CADVISOR = 'github.com/google/cadvisor/lib';

/** Reads the Go files at `path` of a module of the release; `kubernetes` and `etcd` stand for their main modules. */
export type Reader = (module: string, ...paths: readonly string[]) => readonly string[];

/** The folder of a module of a release. Staging modules are numbered 0.MINOR.PATCH. */
export function folderOf(release: Release, module: string): string {
  if (module === 'etcd') return moduleFolder('go.etcd.io/etcd/server/v3', `v${release.etcd}`);
  if (module === CADVISOR) {
    // Names of the flags that the kubelet takes from it since 1.37; before, they stand in the kubelet's own sources.
    const version = requiredVersion(folderOf(release, 'kubernetes'), CADVISOR);
    return version === undefined ? '/nonexistent' : moduleFolder(CADVISOR, version);
  }
  if (module === 'kubernetes') return moduleFolder('k8s.io/kubernetes', `v${release.kubernetes}`);
  return moduleFolder(`k8s.io/${module}`, `v0${release.kubernetes.slice(1)}`);
}

export function readerOf(release: Release): Reader {
  return (module, ...paths) => {
    const folder = folderOf(release, module);
    return paths.flatMap((path) => goTexts(`${folder}/${path}`));
  };
}

/** Logging, metrics, `--version` and `--feature-gates`. */
const common = (read: Reader): readonly string[] =>
  read(
    'component-base',
    'logs',
    'logs/api/v1',
    'metrics',
    'version/verflag',
    'featuregate',
    'compatibility',
    'cli/globalflag',
  );

const server = (read: Reader): readonly string[] => read('apiserver', 'pkg/server/options');

/** How a component serves and whom it lets in; the rest of these options is kube-apiserver's alone. */
const serving = (read: Reader): readonly string[] =>
  read(
    'apiserver',
    ...['serving', 'serving_with_loopback', 'authentication', 'authorization', 'deprecated_insecure_serving'].map(
      (name) => `pkg/server/options/${name}.go`,
    ),
  );

const cloud = (read: Reader): readonly string[] => {
  const texts = read('kubernetes', 'cmd/kube-controller-manager/app/options');
  const files = ['kubecloudshared.go', 'cloudprovider.go', 'nodecontroller.go', 'servicecontroller.go'];
  // Flags of this controller belong to the component only while it adds them.
  const hasServices = texts.some((text) => text.includes('s.ServiceController.AddFlags'));
  const used = files.filter((file) => hasServices || file !== 'servicecontroller.go');
  return [...texts, ...read('cloud-provider', ...used.map((file) => `options/${file}`))];
};

/** The components, and the Go sources that declare their flags. */
export const flagSources: Readonly<Record<string, (read: Reader) => readonly string[]>> = {
  'kube-apiserver': (read) => [
    ...common(read),
    ...server(read),
    ...read('kubernetes', 'cmd/kube-apiserver/app/options', 'pkg/controlplane/apiserver/options'),
    ...read('kubernetes', 'pkg/kubeapiserver/options'),
  ],
  'kube-controller-manager': (read) => [
    ...common(read),
    ...serving(read),
    ...cloud(read),
    ...read('controller-manager', 'options', 'pkg/leadermigration/options'),
    ...read('component-base', 'config/options'),
  ],
  'kube-scheduler': (read) => [
    ...common(read),
    ...serving(read),
    ...read('kubernetes', 'cmd/kube-scheduler/app/options'),
    ...read('component-base', 'config/options'),
  ],
  kubelet: (read) => [
    ...common(read),
    ...read('kubernetes', 'cmd/kubelet/app/options', 'pkg/kubelet/config'),
    ...read(CADVISOR, 'cadvisorflags'),
  ],
  'kube-proxy': (read) => [...common(read), ...read('kubernetes', 'cmd/kube-proxy/app')],
  etcd: (read) => read('etcd', 'embed/config.go', 'embed/config_experimental.go', 'etcdmain/config.go'),
};

/** The sources of each set of feature gates. All components of Kubernetes share one. */
export const gateSources: Readonly<Record<string, (read: Reader) => readonly string[]>> = {
  kubernetes: (read) => [
    ...read('kubernetes', 'pkg/features'),
    ...read('apiserver', 'pkg/features'),
    ...read('apiextensions-apiserver', 'pkg/features'),
    ...read('client-go', 'features'),
    ...read('controller-manager', 'pkg/features'),
    ...read('component-base', 'logs/api/v1', 'metrics/features', 'zpages/features'),
  ],
  etcd: (read) => read('etcd', 'features'),
  kubeadm: (read) => read('kubernetes', 'cmd/kubeadm/app/features'),
};
