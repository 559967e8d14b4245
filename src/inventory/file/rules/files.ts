import { distributions, keyringFiles, packageManagerFiles } from '../../../host/packages/distributions.value.ts';
import { paths } from '../../../paths.ts';
import { CONTAINER_RUNTIMES, runtimeFiles } from '../../../runtime/runtimes.value.ts';
import { isChartFile } from '../../schema/charts.ts';
import { problem, type Rule, warning } from '../../schema/rule.ts';
import { asList, selected } from '../levels.ts';
import { unmeant } from './hosts.ts';

const OCI = /^oci:\/\/[A-Za-z0-9][A-Za-z0-9.:[\]-]*(?:\/[a-z0-9][a-z0-9._-]*)+$/;
const URL = /^https:\/\/[A-Za-z0-9][^\s\p{Cc}]*$/u;
const CHART_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A chart is code that runs in the cluster: it comes from a file, or is pinned by its hash. */
export const chartSources: Rule = ({ charts: entries }) =>
  entries.flatMap((entry, i) => {
    const { chart: name, repository, version, sha256: hash } = entry;
    const at = (field: string) => ['charts', i, field];
    const first = entries.findIndex((other) => other.name === entry.name && other.namespace === entry.namespace);
    const repeated = first < i ? [problem(at('name'), `is the name of charts[${String(first)}] already`)] : [];
    if (isChartFile(entry))
      return version === undefined
        ? repeated
        : [...repeated, problem(at('version'), 'is for oci:// and repository; a .tgz file has its version: remove it')];
    const isOci = name.startsWith('oci://');
    const form = repository === undefined ? (isOci ? OCI : URL) : CHART_NAME;
    const must =
      repository === undefined
        ? 'must be a .tgz file, an https:// URL or an oci:// reference without tag'
        : 'must be the name of a chart in the repository';
    return [
      ...repeated,
      ...(form.test(name) ? [] : [problem(at('chart'), must)]),
      ...(version === undefined && (isOci || repository !== undefined)
        ? [problem(at('version'), 'is required: the exact version of the chart')]
        : []),
      ...(hash === undefined
        ? [problem(at('sha256'), 'is required: the SHA-256 of the packaged chart (`helm pull`, then sha256sum)')]
        : []),
    ];
  });

const OWN_PATHS: ReadonlySet<string> = new Set([
  ...Object.values(paths),
  ...packageManagerFiles,
  ...keyringFiles,
  ...distributions.map(({ kubeletArguments }) => kubeletArguments),
  ...CONTAINER_RUNTIMES.flatMap((runtime) => [
    ...runtimeFiles(runtime),
    ...(runtime.registriesFolder.use === 'whole' ? [runtime.registriesFolder.path] : []),
  ]),
]);

/** Folders of which kbuild owns all, with the folders below. */
const OWN_FOLDERS = [paths.state, paths.run, paths.kubeadmPatches] as const;

/**
 * Files that kubeadm or a kubelet writes (kubeadm's constants.go and the kubelet's --cert-dir). Other files in these
 * folders are the operator's: the API server reads an audit policy or the CA of a login service from there.
 */
const KUBEADM_PATHS = [
  /^\/etc\/kubernetes\/pki\/(?:etcd\/)?(?:ca|front-proxy-ca|apiserver|apiserver-kubelet-client|apiserver-etcd-client|front-proxy-client|server|peer|healthcheck-client)\.(?:crt|key)$/,
  /^\/etc\/kubernetes\/pki\/sa\.(?:key|pub)$/,
  /^\/etc\/kubernetes\/(?:admin|super-admin|kubelet|bootstrap-kubelet|controller-manager|scheduler)\.conf$/,
  /^\/etc\/kubernetes\/manifests\/(?:kube-apiserver|kube-controller-manager|kube-scheduler|etcd)\.yaml$/,
  /^\/var\/lib\/kubelet\/(?:config\.yaml|instance-config\.yaml|kubeadm-flags\.env|pki\/.*)$/,
  /^\/var\/lib\/etcd\/.*$/,
];

/** Folders whose owner is another user on nearly all hosts, or in which every user can make files. */
const FOLDERS_OF_USERS = /^\/(?:home|tmp|var\/tmp|dev\/shm)\//;

/** What is wrong with where a file goes. */
function placeViolations(path: string, at: readonly ['files', number, 'path']) {
  if (OWN_PATHS.has(path) || OWN_FOLDERS.some((folder) => path.startsWith(`${folder}/`)))
    return [problem(at, 'kbuild writes this file itself')];
  if (KUBEADM_PATHS.some((owned) => owned.test(path)))
    return [problem(at, 'belongs to kubeadm, the kubelet or etcd, which write it themselves: name another path')];
  return FOLDERS_OF_USERS.test(path)
    ? [
        warning(
          at,
          'up refuses it if a folder on the way belongs to another user than root, who could lead it elsewhere',
        ),
      ]
    : [];
}

/** Every file has one content and at least one host, and no path is written twice. */
export const files: Rule = (whole) => {
  const { files, hosts } = whole;
  const ways = files.map((file) => {
    const names = asList(file.hosts).flatMap((selector) => selected(hosts, selector).map(({ name }) => name));
    return { path: file.path, names: new Set(names) };
  });
  return files.flatMap((file, i) => {
    const found = [];
    const contents = [file.source, file.content, file.secret].filter((value) => value !== undefined);
    if (contents.length !== 1)
      found.push(
        problem(
          ['files', i],
          `needs ${contents.length === 0 ? 'a content' : 'only one content'}: one of source, content, secret`,
        ),
      );
    found.push(...placeViolations(file.path, ['files', i, 'path']));
    found.push(...unmeant(whole, ['files', i, 'hosts'], file.hosts));
    const clash = ways
      .slice(0, i)
      .findIndex(({ path, names }) => path === file.path && [...names].some((name) => ways[i]!.names.has(name)));
    if (clash !== -1)
      found.push(problem(['files', i, 'path'], `files[${clash}] writes it on the same host; keep one of the two`));
    return found;
  });
};
