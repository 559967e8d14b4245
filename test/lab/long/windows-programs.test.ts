/** Real Windows programs, each by itself under wine: what they make of the files and calls that kbuild gives them. No cluster. */
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { windowsPaths } from '../../../src/paths.ts';
import { revealed, Secret } from '../../../src/shell/secret.ts';
import { secretYaml } from '../../../src/shell/yaml.ts';
import { windowsContainerdConfig } from '../../../src/windows/containerd.step.ts';
import {
  windowsJoinConfiguration,
  windowsResetConfiguration,
  windowsUpgradeConfiguration,
} from '../../../src/windows/kubeadm.ts';
import { inventoryOf } from '../../fakes/cluster.ts';
import { windowsHost } from '../../fakes/inventory.ts';
import { testCa } from '../../windows/ca.ts';
import { programText } from '../../windows/host/internet.ts';
import { addService, filesOf, freshMachine } from '../../windows/host/machine.ts';
import { realHost, type RealHost } from '../../windows/wine/host.ts';
import { VERSIONS } from '../versions.ts';
import { WINDOWS_PROGRAMS, windowsPrograms, type WindowsPrograms } from '../windows-programs.ts';

const BUILD_MS = 3 * 3_600_000;
const CONTAINERD = `${windowsPaths.containerd}\\containerd.exe`;
const inPrograms = (name: string): string => `${windowsPaths.programs}\\${name}`;
const deadlineMs = 120_000;

const machine = freshMachine('win1', '20348', '127.0.0.1');
const files = filesOf(machine);
const host = windowsHost('win1');
let made: WindowsPrograms;
let real: RealHost;

beforeAll(async () => {
  made = await windowsPrograms(WINDOWS_PROGRAMS);
  for (const name of WINDOWS_PROGRAMS)
    files.put(name === 'containerd.exe' ? CONTAINERD : inPrograms(name), programText(name));
  real = realHost(machine, {
    prefix: made.prefix,
    programs: new Map(WINDOWS_PROGRAMS.map((name) => [name, made.path(name)])),
  });
}, BUILD_MS);

afterAll(() => real.close());

test.each([
  ['kubeadm.exe', ['version', '-o', 'short'], 'vVERSION'],
  ['kubelet.exe', ['--version'], 'Kubernetes vVERSION'],
  ['kube-proxy.exe', ['--version'], 'Kubernetes vVERSION'],
  ['crictl.exe', ['--version'], 'crictl version v1.36.0'],
  ['flanneld.exe', ['--version'], `v${VERSIONS.flannel}`],
] as const)('%s tells its version as kbuild asks for it', async (name, args, said) => {
  const { status, stdout, stderr } = await real.run(inPrograms(name), args, { deadlineMs });
  expect({ status, said: (stdout + stderr).trim() }).toEqual({
    status: 0,
    said: said.replace('VERSION', made.version),
  });
});

describe('containerd.exe', () => {
  const dump = async (version: string): Promise<Record<string, never>> => {
    const config = windowsContainerdConfig({ ...host, windows: { ...host.windows, containerd: { version } } });
    files.put(windowsPaths.containerdConfig, config);
    const args = ['--config', windowsPaths.containerdConfig, 'config', 'dump'];
    const { status, stdout, stderr } = await real.run(CONTAINERD, args, { deadlineMs });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return parseToml(stdout) as Record<string, never>;
  };

  test('takes every setting of kbuild’s configuration', async () => {
    const config = await dump(VERSIONS.containerd);
    expect(config).toMatchObject({
      root: `${windowsPaths.containerdData}\\root`,
      grpc: { address: windowsPaths.containerdPipe },
      plugins: {
        'io.containerd.cri.v1.images': {
          pinned_images: { sandbox: host.windows.pauseImage },
          registry: { config_path: windowsPaths.certsD },
        },
        'io.containerd.cri.v1.runtime': {
          cni: { bin_dir: '', bin_dirs: [windowsPaths.cniBin], conf_dir: windowsPaths.cniConfig },
          containerd: { default_runtime_name: 'runhcs-wcow-process' },
        },
      },
    });
  });

  test('refuses a configuration that is cut short, and says where', async () => {
    files.put(windowsPaths.containerdConfig, 'version = 3\nroot = "C:');
    const args = ['--config', windowsPaths.containerdConfig, 'config', 'dump'];
    const { status, stderr } = await real.run(CONTAINERD, args, { deadlineMs });
    expect(status).toBe(1);
    expect(stderr).toContain('failed to unmarshal TOML');
  });

  test('answers crictl.exe with its configuration, at kbuild’s pipe, with the RuntimeClasses’ handlers', async () => {
    await dump(VERSIONS.containerd);
    addService(machine, {
      name: 'containerd',
      state: 'Running',
      path: `"${CONTAINERD}" --run-service --config "${windowsPaths.containerdConfig}" --log-file "C:\\ProgramData\\containerd\\containerd.log"`,
    });
    const info = await real.withRuntime(() =>
      real.run(inPrograms('crictl.exe'), ['-r', 'npipe:////./pipe/containerd-containerd', 'info'], { deadlineMs }),
    );
    const { status, runtimeHandlers } = JSON.parse(info.stdout) as {
      readonly status: { readonly conditions: readonly { readonly type: string; readonly status: boolean }[] };
      readonly runtimeHandlers: readonly { readonly name?: string }[];
    };
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'RuntimeReady', status: true }));
    expect(runtimeHandlers.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['runhcs-wcow-process', 'runhcs-wcow-hypervisor']),
    );
  });
});

describe('host-local.exe', () => {
  const ipam = { type: 'host-local', ranges: [[{ subnet: '10.244.3.0/24' }]], dataDir: 'C:/var/lib/cni/networks' };
  const call = (command: 'ADD' | 'DEL') =>
    real.run(inPrograms('host-local.exe'), [], {
      input: JSON.stringify({ cniVersion: '0.2.0', name: 'flannel.4096', ipam }),
      env: {
        CNI_COMMAND: command,
        CNI_CONTAINERID: 'kbuild-source-vip',
        CNI_NETNS: 'none',
        CNI_IFNAME: 'none',
        CNI_PATH: windowsPaths.cniBin,
      },
      deadlineMs,
    });

  test('forgets what was never reserved, reserves once, and refuses a second address of one name', async () => {
    expect(await call('DEL')).toMatchObject({ status: 0, stdout: '' });
    const { stdout } = await call('ADD');
    expect(JSON.parse(stdout)).toMatchObject({ ip4: { ip: '10.244.3.2/24' } });
    const second = await call('ADD');
    expect(second.status).toBe(1);
    expect(second.stdout).toContain('duplicate allocation is not allowed');
    expect(files.under('C:\\var\\lib\\cni\\networks').map((path) => path.split('\\').at(-1))).toContain('10.244.3.2');
  });

  test('gives another address after that', async () => {
    expect((await call('DEL')).status).toBe(0);
    expect(JSON.parse((await call('ADD')).stdout)).toMatchObject({ ip4: { ip: '10.244.3.3/24' } });
  });
});

describe('kubeadm.exe', () => {
  const inventory = inventoryOf();
  const credentials = { token: Secret.of('abcdef.0123456789abcdef'), caHash: `sha256:${'0'.repeat(64)}` };
  const validate = async (config: object): Promise<object> => {
    files.put('C:\\check\\config.yaml', revealed(secretYaml([config])));
    const args = ['config', 'validate', '--config', 'config.yaml'];
    const { status, stderr } = await real.run(inPrograms('kubeadm.exe'), args, { folder: 'C:\\check', deadlineMs });
    return { status, stderr };
  };

  test.each([
    ['join', windowsJoinConfiguration(inventory, host, credentials)],
    ['reset', windowsResetConfiguration(inventory)],
    ['upgrade', windowsUpgradeConfiguration(inventory, host)],
  ])('finds no fault in the configuration of a %s', async (_, config) => {
    expect(await validate(config)).toEqual({ status: 0, stderr: '' });
  });

  test('finds a field that it does not know', async () => {
    expect(await validate({ ...windowsResetConfiguration(inventory), colour: 'red' })).toMatchObject({ status: 1 });
  });
});

describe('kube-proxy.exe', () => {
  const SECRETS = '/var/run/secrets/kubernetes.io/serviceaccount';
  const { pem } = testCa();
  /** As in kubeadm's ConfigMap `kube-proxy`; nothing listens there. */
  const kubeconfig = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'default', cluster: { 'certificate-authority': `${SECRETS}/ca.crt`, server: 'https://127.0.0.1:1' } },
    ],
    contexts: [{ name: 'default', context: { cluster: 'default', namespace: 'default', user: 'default' } }],
    'current-context': 'default',
    users: [{ name: 'default', user: { tokenFile: `${SECRETS}/token` } }],
  });
  /** What it says until it has read its kubeconfig. */
  async function said(text: string): Promise<string> {
    files.put(`C:${SECRETS.replaceAll('/', '\\')}\\ca.crt`, pem);
    files.put(`C:${SECRETS.replaceAll('/', '\\')}\\token`, 'none');
    files.put(windowsPaths.kubeProxyKubeconfig, text);
    const args = ['--hostname-override=win1', `--kubeconfig=${windowsPaths.kubeProxyKubeconfig}`];
    const { stderr } = await real.run(inPrograms('kube-proxy.exe'), [...args, '--proxy-mode=kernelspace'], {
      deadlineMs: 15_000,
    });
    return stderr;
  }

  test('looks for kubeadm’s certificate authority below its own folder', async () => {
    expect(await said(kubeconfig)).toContain(
      'unable to read certificate-authority C:\\\\var\\\\lib\\\\kube-proxy-windows\\\\var\\\\run\\\\secrets',
    );
  });

  test('asks the API server with the copy that kbuild’s pod makes', async () => {
    // As kube-proxy.ps1 does it.
    const copy = kubeconfig.replaceAll(': /var/', ': C:/var/');
    expect(copy).not.toBe(kubeconfig);
    expect(await said(copy)).toContain('https://127.0.0.1:1/api/v1/nodes?fieldSelector=metadata.name%3Dwin1');
  });
});
