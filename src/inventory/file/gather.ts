import { authorityProblem, keyProblem } from '../../certificates/fingerprint.value.ts';
import { Secret } from '../../shell/secret.ts';
import { minorNumber } from '../../versions.ts';
import type { Authority, ExternalEtcd, OwnAuthorities, Sign } from '../control-plane.ts';
import type { RunHere } from '../host-settings.ts';
import type { Path } from '../schema/rule.ts';
import type { InventoryFile } from '../schema/schema.ts';
import { readCharts } from './charts.ts';
import { hooksHere } from './host-settings.ts';
import { kubernetesKeys, runtimeKeys, type RuntimeKeys, type SigningKeys } from './keys.ts';
import { patchProblems } from './kubelet-patch.ts';
import { type AppliedManifests, readManifests } from './manifests.ts';
import { type Reader, readerOf, type Report } from './reader.ts';
import type { Sources } from './sources.ts';
import type { SshSecrets } from './ssh.ts';

type Filter = NonNullable<Sources['filter']>;

/** What an inventory says of one of the user's own authorities. */
type AuthorityFile = NonNullable<Exclude<InventoryFile['certificates'], string>[keyof OwnAuthorities]>;

const noCommands: Filter = () => Promise.reject(new Error('no command may be run'));

/**
 * Makes signers of the user's commands. Each command runs once for each certificate and never twice at a time, also if
 * it signs for several authorities: it may keep a serial number.
 */
function signingCommands(cluster: string, filter: Filter = noCommands): (command: string) => Sign {
  const last = new Map<string, Promise<unknown>>();
  return (command) =>
    ({ host, certificate, profile, request }) => {
      const run = () =>
        filter(command, request, {
          KBUILD_CLUSTER: cluster,
          KBUILD_HOST: host,
          KBUILD_CERTIFICATE: certificate,
          KBUILD_PROFILE: profile,
        });
      const signed = (last.get(command) ?? Promise.resolve()).then(run, run);
      last.set(command, signed);
      return signed;
    };
}

/**
 * One of the user's own authorities, with its key or with the command that signs. Reports one that kubeadm could not
 * use.
 */
async function authorityAt(
  path: readonly string[],
  { cert: file, key: reference, sign: command }: AuthorityFile,
  {
    reader,
    signer,
    report,
  }: { readonly reader: Reader; readonly signer: (command: string) => Sign; readonly report: Report },
): Promise<Authority | undefined> {
  const cert = await reader.text([...path, 'cert'], file);
  const wrong = cert === '' ? undefined : authorityProblem(cert);
  if (wrong !== undefined) report([...path, 'cert'], `${file}: ${wrong}`);
  if (command !== undefined) return { cert, sign: signer(command) };
  if (reference === undefined) return undefined;
  const key = await reader.secret([...path, 'key'], reference);
  const unfit = cert === '' || wrong !== undefined ? undefined : keyProblem(cert, key);
  if (unfit !== undefined) report([...path, 'key'], unfit);
  return { cert, key };
}

/** The user's own authorities. Reports those that kubeadm could not use. Empty if kubeadm makes all of them. */
async function ownAuthorities(
  reader: Reader,
  { name, certificates }: InventoryFile,
  { filter }: Sources,
  report: Report,
): Promise<OwnAuthorities> {
  if (typeof certificates === 'string') return {};
  const signer = signingCommands(name, filter);
  const at = async (setting: keyof OwnAuthorities): Promise<OwnAuthorities> => {
    const file = certificates[setting];
    const own =
      file === undefined ? undefined : await authorityAt(['certificates', setting], file, { reader, signer, report });
    return own === undefined ? {} : { [setting]: own };
  };
  return { ...(await at('ca')), ...(await at('etcdCa')), ...(await at('frontProxyCa')) };
}

/** The contents of everything that the inventory refers to. */
export interface Gathered extends AppliedManifests {
  /** Contents of `files:`, in its order. */
  readonly files: readonly (string | Secret)[];
  /** PEM texts of `runtime.registries`, in its order. */
  readonly registryCas: readonly (string | undefined)[];
  readonly registryPasswords: readonly (Secret | undefined)[];
  /** PEM texts of `trustedCAs:`, by the file's name in the inventory. */
  readonly trustedCas: ReadonlyMap<string, string>;
  readonly kubernetesKey: SigningKeys;
  /** Of the runtimes' repositories, by place: see `runtimeKeysOf`. */
  readonly runtimeKeys: RuntimeKeys;
  readonly patches: Readonly<Record<string, string>>;
  /** The user's own etcd; undefined where it is stacked. */
  readonly etcd: Omit<ExternalEtcd, 'topology'> | undefined;
  /** The user's own authorities. */
  readonly authorities: OwnAuthorities;
  /** Runs hooks on this machine. */
  readonly runHere: RunHere;
  /** Secrets of `ssh:`, in the order of the hosts. */
  readonly ssh: readonly SshSecrets[];
}

/** kubeadm's own rule: target[suffix][+type].extension (cmd/kubeadm/app/util/patches). */
const PATCH_FILE =
  /^(etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubeletconfiguration|corednsdeployment|kubeproxydaemonset)[^+/]*(?:\+(?:strategic|merge|json))?\.(?:yaml|json)$/;

/** Targets of patches that older kubeadms do not have, with their first minor: kubernetes/kubernetes#138090. */
const FIRST_MINOR: Readonly<Record<string, number>> = { kubeproxydaemonset: 37 };

async function certificate(reader: Reader, path: Path, name: string, report: Report): Promise<string> {
  const pem = await reader.text(path, name);
  if (pem !== '' && !pem.includes('-----BEGIN CERTIFICATE-----')) report(path, `${name}: holds no PEM certificate`);
  return pem;
}

/** Reads the files of a folder of patches that this version's kubeadm knows; reports the others. */
async function patchFiles(
  { reader, path, report }: { readonly reader: Reader; readonly path: Path; readonly report: Report },
  folder: string,
  names: readonly string[],
  { kubernetes: { version }, network }: InventoryFile,
) {
  const isOwnNetwork = network.plugin === 'none';
  const contents: Record<string, string> = {};
  for (const name of names.filter((each) => !each.startsWith('.'))) {
    const target = PATCH_FILE.exec(name)?.[1];
    const first = FIRST_MINOR[target ?? ''] ?? 0;
    if (target !== undefined && minorNumber(version) >= first) {
      const text = await reader.text(path, `${folder}/${name}`);
      contents[name] = text;
      for (const wrong of patchProblems(name, text, { version, isOwnNetwork }))
        report(path, `${folder}/${name}: ${wrong}`);
    } else if (target !== undefined)
      report(
        path,
        `${folder}/${name}: kubeadm patches ${target} from Kubernetes 1.${String(first)} on; this is ${version}`,
      );
    else
      report(
        path,
        `${folder}/${name}: kubeadm reads no file of this name; it must be target[suffix][+type].yaml or .json, ` +
          'e.g. "kube-apiserver0+merge.yaml"',
      );
  }
  return contents;
}

/** The secrets of every host's login: its own references, else the inventory's, which are read once for all hosts. */
async function sshSecrets({ ssh, hosts }: InventoryFile, reader: Reader): Promise<readonly SshSecrets[]> {
  const of = async (path: Path, entry: InventoryFile['ssh']): Promise<SshSecrets> => ({
    ...(entry.passphrase === undefined
      ? {}
      : { passphrase: await reader.password([...path, 'passphrase'], entry.passphrase) }),
    ...(entry.sudoPassword === undefined
      ? {}
      : { sudoPassword: await reader.password([...path, 'sudoPassword'], entry.sudoPassword) }),
  });
  const shared = await of(['ssh'], ssh);
  return Promise.all(hosts.map(async (host, i) => ({ ...shared, ...(await of(['hosts', i, 'ssh'], host.ssh)) })));
}

async function externalEtcd(reader: Reader, { etcd }: InventoryFile, report: Report): Promise<Gathered['etcd']> {
  const { endpoints, ca, cert, key } = etcd;
  if (ca === undefined || cert === undefined || key === undefined) return undefined;
  const pem = await reader.text(['etcd', 'key'], key);
  if (pem !== '' && !pem.includes('PRIVATE KEY-----')) report(['etcd', 'key'], `${key}: holds no PEM private key`);
  return {
    endpoints,
    ca: await certificate(reader, ['etcd', 'ca'], ca, report),
    cert: await certificate(reader, ['etcd', 'cert'], cert, report),
    key: Secret.of(pem),
  };
}

/** The files of `trustedCAs:` at every level, each read once. */
async function trustedAuthorities(
  reader: Reader,
  file: InventoryFile,
  report: Report,
): Promise<Gathered['trustedCas']> {
  const levels: readonly (readonly [Path, readonly string[]])[] = [
    [[], file.trustedCAs],
    ...Object.entries(file.roles).map(([role, level]) => [['roles', role], level.trustedCAs] as const),
    ...Object.entries(file.groups).map(([group, level]) => [['groups', group], level.trustedCAs] as const),
    ...file.hosts.map((host, i) => [['hosts', i], host.trustedCAs] as const),
  ];
  const read = new Map<string, string>();
  for (const [path, names] of levels)
    for (const [i, name] of names.entries()) {
      if (read.has(name)) continue;
      const at = [...path, 'trustedCAs', i];
      const pem = await certificate(reader, at, name, report);
      if (pem.split('-----BEGIN CERTIFICATE-----').length > 2)
        report(at, `${name}: holds more than one certificate; some systems read only the first: name a file for each`);
      read.set(name, pem);
    }
  return read;
}

/** Reads everything that the inventory refers to. Goes on after what cannot be read, and reports it. */
export async function gather(file: InventoryFile, folder: string, sources: Sources, report: Report): Promise<Gathered> {
  const reader = readerOf(folder, sources, report);
  const { runtime, kubernetes, kubeadm } = file;
  const world = { reader, helm: sources.helm, kubernetes: kubernetes.version };
  const applied = await readManifests(reader, file, report, (...asked) => readCharts(world, ...asked));
  const patchFolder = kubeadm.patches;
  const patchPath = ['kubeadm', 'patches'];
  return {
    ssh: await sshSecrets(file, reader),
    files: await Promise.all(
      file.files.map(async ({ source, content, secret }, i) => {
        if (secret !== undefined) return reader.secret(['files', i, 'secret'], secret);
        return source === undefined ? (content ?? '') : reader.text(['files', i, 'source'], source);
      }),
    ),
    ...applied,
    registryCas: await Promise.all(
      runtime.registries.map(async ({ ca }, i) =>
        ca === undefined ? undefined : certificate(reader, ['runtime', 'registries', i, 'ca'], ca, report),
      ),
    ),
    registryPasswords: await Promise.all(
      runtime.registries.map(async ({ password }, i) =>
        password === undefined ? undefined : reader.password(['runtime', 'registries', i, 'password'], password),
      ),
    ),
    trustedCas: await trustedAuthorities(reader, file, report),
    kubernetesKey: await kubernetesKeys(reader, file),
    runtimeKeys: await runtimeKeys(reader, file),
    etcd: await externalEtcd(reader, file, report),
    runHere: hooksHere(sources),
    authorities: await ownAuthorities(reader, file, sources, report),
    patches:
      patchFolder === undefined
        ? {}
        : await patchFiles(
            { reader, path: patchPath, report },
            patchFolder,
            await reader.attempt(patchPath, patchFolder, () => sources.list(sources.locate(patchFolder, folder)), []),
            file,
          ),
  };
}
