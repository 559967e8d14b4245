import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { podScript } from '../../src/templates.ts';
import { parse as parseYaml } from 'yaml';
import { inventoryOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { windowsFacts } from '../fakes/windows.ts';
import { filesOf } from './host/machine.ts';
import { inKubeconfig } from './host/go-paths.ts';
import { codeOf, nodesOf, powershellParser, problemsOf, scriptText } from './grammar.ts';

const names = readdirSync(new URL('../../templates/windows/pods', import.meta.url)) as `${string}.ps1`[];

/** What Windows PowerShell 5.1 and the modules of Windows Server bring. */
const KNOWN = new Set([
  ...['Set-StrictMode', 'Test-Path', 'New-Item', 'Out-Null', 'Copy-Item', 'Remove-Item', 'Write-Output', 'Get-Date'],
  ...[
    'Where-Object',
    'Start-Sleep',
    'Move-Item',
    'Split-Path',
    'Get-Content',
    'Set-Content',
    'ConvertFrom-Json',
    'ConvertTo-Json',
  ],
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
    const own = nodesOf(tree, 'function_name').map((node) => node.text);
    expect(
      nodesOf(tree, 'command_name')
        .filter((node) => !KNOWN.has(node.text) && !own.includes(node.text))
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

describe('the source address that is reserved for kube-proxy', () => {
  /** host-local: one address for one name; taking back what is not there succeeds. */
  const hostLocal = (names: Set<string>) => (command: string) => {
    if (command === 'DEL') return names.delete('kbuild-source-vip');
    if (names.has('kbuild-source-vip')) throw new Error('duplicate allocation is not allowed');
    return names.add('kbuild-source-vip');
  };
  const commandsOf = (script: string): readonly string[] =>
    [...(/foreach \(\$command in @\(([^)]*)\)\)/.exec(script)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(([, one]) => one!);

  test.each([
    ['by the pod', podScript('kube-proxy.ps1')],
    ['by kbuild', scriptText('reserve-source-vip.ps1')],
  ])('%s, is reserved again after a crash between the reservation and its note', (_, script) => {
    const reserve = hostLocal(new Set(['kbuild-source-vip']));
    expect(() => commandsOf(script).forEach(reserve)).not.toThrow();
    expect(commandsOf(script)).toContain('ADD');
  });

  test('is noted in a file that is written beside, then renamed', () => {
    expect(podScript('kube-proxy.ps1')).toMatch(
      /Set-Content -LiteralPath "\$kept\.kbuild-new"[^\n]*\n\s*Move-Item -LiteralPath "\$kept\.kbuild-new" -Destination \$kept -Force/,
    );
    expect(scriptText('reserve-source-vip.ps1')).toContain('Write-TextFile -Path $Path');
  });

  test.each(['', '{"subnet":"10.244', '{}', '{"subnet":"10.244.3.0/24","address":""}', 'null'])(
    'counts as none where its note is %j',
    (text) => {
      const host = windowsHost('win1');
      const facts = windowsFacts({ ...inventoryOf(), hosts: [host] }, host, (machine) =>
        filesOf(machine).put('C:\\sourcevip\\sourceVip.json', text),
      );
      expect(facts.sourceVip).toBe('absent');
    },
  );
});
