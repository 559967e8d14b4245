import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Target } from '../../src/engine/step.ts';
import { windowsPaths } from '../../src/paths.ts';
import { kubeletServiceOf } from '../../src/windows/kubelet.step.ts';
import { kubeProxyServiceOf } from '../../src/windows/network/kube-proxy.step.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';
import { windowsFacts } from '../fakes/windows.ts';
import { certificateIn, inKubeconfig, isAbsolute } from './host/go-paths.ts';

const KUBECONFIG = 'C:\\etc\\kubernetes\\kubelet.conf';

function target(serviceManager: 'native' | 'nssm'): Target<'windows'> {
  const usual = windowsHost('win1').windows;
  const host = windowsHost('win1', { windows: { ...usual, serviceManager } });
  const inventory = { ...inventoryOf(), hosts: [host], network: mixedFlannel() };
  return { inventory, host, facts: windowsFacts(inventory, host) } as unknown as Target<'windows'>;
}

/** The flags of a service, by name. */
function flagsOf({ path, parameters }: ReturnType<typeof kubeletServiceOf>): ReadonlyMap<string, string> {
  const line = `${path} ${String(parameters.find(({ name }) => name === 'AppParameters')?.value ?? '')}`;
  return new Map([...line.matchAll(/--([a-z-]+)=(\S*)/g)].map(([, name, value]) => [name!, value!]));
}

describe.each(['native', 'nssm'] as const)('the kubelet, as a service by %s', (serviceManager) => {
  const flags = flagsOf(kubeletServiceOf(target(serviceManager)));

  test('finds its certificate when it starts again, without the bootstrap file', () => {
    const certificate = certificateIn(flags.get('cert-dir')!);
    expect(inKubeconfig(flags.get('kubeconfig')!, certificate)).toBe(
      'C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem',
    );
    // Without a drive client-go looks below the folder of kubelet.conf.
    expect(inKubeconfig(KUBECONFIG, certificateIn('/var/lib/kubelet/pki'))).toMatch(/^C:\\etc\\kubernetes\\var/);
  });

  test('has no path without a drive', () => {
    const values = [...flags.values()].filter((value) => /^[\\/]/.test(value));
    expect(values).toEqual([]);
  });
});

test('kube-proxy as a service has no path without a drive, and reads the kubelet’s kubeconfig', () => {
  const flags = flagsOf(kubeProxyServiceOf(target('nssm')));
  expect(flags.get('kubeconfig')).toBe(windowsPaths.kubeletConf);
  expect([...flags.values()].filter((value) => /^[\\/]/.test(value))).toEqual([]);
});

test('every path that kbuild writes on Windows has its drive', () => {
  const { containerdPipe, ...folders } = windowsPaths;
  expect(containerdPipe).toMatch(/^\\\\\.\\pipe/);
  expect(Object.values(folders).filter((path) => !isAbsolute(path))).toEqual([]);
});

const templates = new URL('../../templates/', import.meta.url);
const scripts = ['windows', 'windows/pods'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, templates))
    .filter((name) => name !== 'pods')
    .map((name) => `${folder}/${name}`),
);

test.each(scripts)('%s gives no program a path without a drive', (name) => {
  const text = readFileSync(new URL(name, templates), 'utf8');
  expect([...text.matchAll(/=\s*['"]\/[a-z]+\/[^'"]*['"]|--[a-z-]+=\/[a-z]+/g)].map(([found]) => found)).toEqual([]);
});

test('kubeadm finds kubelet.exe beside itself, whatever PATH its task began with', () => {
  const text = readFileSync(new URL('windows/kubeadm.ps1', templates), 'utf8');
  const path = text.indexOf(`Set-Item -Path 'Env:Path' -Value "$(Split-Path -Path $Program -Parent);$env:Path"`);
  expect(path).toBeGreaterThan(0);
  expect(path).toBeLessThan(text.indexOf('Invoke-Native'));
});
