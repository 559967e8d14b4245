import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { podScript } from '../../src/templates.ts';
import { parse as parseYaml } from 'yaml';
import { inKubeconfig } from './host/go-paths.ts';
import { codeOf, nodesOf, powershellParser, problemsOf } from './grammar.ts';

const names = readdirSync(new URL('../../templates/windows-pods', import.meta.url)) as `${string}.ps1`[];

/** What Windows PowerShell 5.1 and the modules of Windows Server bring. */
const KNOWN = new Set([
  ...['Set-StrictMode', 'Test-Path', 'New-Item', 'Out-Null', 'Copy-Item', 'Remove-Item', 'Write-Output', 'Get-Date'],
  ...['Where-Object', 'Start-Sleep', 'Split-Path', 'Get-Content', 'Set-Content', 'ConvertFrom-Json', 'ConvertTo-Json'],
  ...['Get-HnsNetwork', 'Get-HnsEndpoint', 'Get-HnsPolicyList', 'Remove-HnsPolicyList'],
]);

/** Programs that they run, as it stands in the script. */
const PROGRAMS: Readonly<Record<string, readonly RegExp[]>> = {
  'prepare-flannel.ps1': [/^& 'route\.exe' /],
  'kube-proxy.ps1': [
    /^& "\$env:CNI_BIN\\host-local\.exe"/,
    /^& "\$env:CONTAINER_SANDBOX_MOUNT_POINT\\kube-proxy\\kube-proxy\.exe" @arguments/,
  ],
};

let parse: (text: string) => Node;

beforeAll(async () => {
  parse = await powershellParser();
});

describe.each(names)('%s, which runs in pods', (name) => {
  const text = podScript(name);

  test('is what the grammar knows, in ASCII, with its parameters in its head', () => {
    expect(problemsOf(parse(text))).toEqual([]);
    expect(/[^\n\x20-\x7e]/.exec(text)).toBeNull();
    const head = /^(?:#.*\n)+/.exec(text)![0];
    const used = new Set([...text.matchAll(/\$env:([A-Z_]+)/g)].map(([, variable]) => variable!));
    used.delete('CONTAINER_SANDBOX_MOUNT_POINT');
    for (const set of [...used].filter((variable) => !text.includes(`$env:${variable} = `)))
      expect(head).toContain(set);
  });

  test('is strict and stops at errors, and calls what it may', () => {
    const code = text
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .join('\n');
    expect(code).toMatch(/^Set-StrictMode -Version Latest\n\$ErrorActionPreference = 'Stop'\n/);
    const tree = parse(text);
    expect(
      nodesOf(tree, 'command_name')
        .filter((node) => !KNOWN.has(node.text))
        .map((node) => node.text),
    ).toEqual([]);
    const invoked = nodesOf(tree, 'command').filter((node) => node.text.startsWith('&'));
    expect(invoked.filter((node) => !PROGRAMS[name]!.some((may) => may.test(node.text)))).toEqual([]);
    expect(/&&|\|\||\?\?|\?\.|`\s*$|invoke-expression/im.exec(codeOf(text, tree))).toBeNull();
  });
});

describe('the kubeconfig of kube-proxy', () => {
  const script = podScript('kube-proxy.ps1');
  const [, from = '', to = ''] = /\$kubeconfig -replace '([^']+)', '([^']+)'/.exec(script) ?? [];
  const copy = 'C:\\var\\lib\\kube-proxy-windows\\kubeconfig.conf';

  /** As kubeadm writes it (cmd/kubeadm/app/phases/addons/proxy/manifests.go). */
  const OF_KUBEADM = `apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
    server: https://k8s.example:6443
  name: default
contexts:
- context:
    cluster: default
    namespace: default
    user: default
  name: default
current-context: default
users:
- name: default
  user:
    tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
`;

  interface Kubeconfig {
    readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
    readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
  }
  const pathsIn = (text: string, at: string): readonly string[] => {
    const { clusters, users } = parseYaml(text) as Kubeconfig;
    const named = [clusters[0].cluster['certificate-authority']!, users[0].user['tokenFile']!];
    return named.map((path) => inKubeconfig(at, path));
  };

  test('as kubeadm writes it, leads nowhere on Windows', () => {
    expect(pathsIn(OF_KUBEADM, 'C:\\var\\lib\\kube-proxy\\kubeconfig.conf')[1]).toBe(
      'C:\\var\\lib\\kube-proxy\\var\\run\\secrets\\kubernetes.io\\serviceaccount\\token',
    );
  });

  test('is read from a copy in a folder that can be written, whose paths have a drive', () => {
    expect(from).not.toBe('');
    const secrets = 'C:\\var\\run\\secrets\\kubernetes.io\\serviceaccount';
    expect(pathsIn(OF_KUBEADM.replace(new RegExp(from, 'gi'), to), copy)).toEqual([
      `${secrets}\\ca.crt`,
      `${secrets}\\token`,
    ]);
    expect(script).toContain('"--kubeconfig=$env:KUBECONFIG_COPY"');
    expect(script).toContain('Set-Content -LiteralPath $env:KUBECONFIG_COPY');
  });
});
