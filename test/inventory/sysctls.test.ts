import { describe, expect, test } from 'vitest';
import { inventoryOf, load, problemsOf, shown } from './load.ts';

/** Line 3 holds what a test adds. */
const text = (settings: string, worker = 'groups: [gpu]', groups = '{}'): string => `name: prod
kubernetes: { version: "1.36.3" }
${settings}
groups: { gpu: ${groups} }
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - { name: w1, address: 10.0.0.21, role: worker, ${worker} }
`;

const sysctlsOf = async (inventory: string) =>
  (await inventoryOf(inventory)).hosts.map((host) => (host.os === 'linux' ? host.sysctls : 'none'));

describe('sysctls', () => {
  test('the nearest wins: host, group, role, all; numbers become text', async () =>
    expect(
      await sysctlsOf(
        text(
          'sysctls: { vm.a: 1, vm.b: 1, vm.c: 1, vm.d: -1 }\nroles: { worker: { sysctls: { vm.b: 2, vm.c: 2, vm.d: 2 } } }',
          'groups: [gpu], sysctls: { vm.d: "4096 131072 6291456" }',
          '{ sysctls: { vm.c: 3, vm.d: 3 } }',
        ),
      ),
    ).toEqual([
      { 'vm.a': '1', 'vm.b': '1', 'vm.c': '1', 'vm.d': '-1' },
      { 'vm.a': '1', 'vm.b': '2', 'vm.c': '3', 'vm.d': '4096 131072 6291456' },
    ]));

  test('a Windows host has none of its group, and may not have its own', async () => {
    expect(await sysctlsOf(text('', 'os: windows, groups: [gpu]', '{ sysctls: { vm.a: 1 } }'))).toEqual([{}, 'none']);
    expect(await problemsOf(text('', 'os: windows, groups: [gpu], sysctls: { vm.a: 1 }'))).toEqual([
      '7:88 hosts[1].sysctls: are of Linux hosts; remove them',
    ]);
  });

  test.each([
    ['what Services need', 'net.ipv4.ip_forward: 0', /must be 1: without it pods and Services do not work; remove it$/],
    ['the same by another name', 'net.ipv4.conf.all.forwarding: 0', /must be 1/],
    ['what the kubelet sets', 'kernel.panic: 5', /the kubelet sets it to 10 when it starts; remove it$/],
    ['a name with slashes', 'net/ipv4/ip_forward: 0', /its name must be the name of a kernel setting with dots/],
    ['a pattern', '"net.ipv4.conf.*.rp_filter": 0', /its name must be the name of a kernel setting/],
    ['a path', '"net.ipv4/../../x": 0', /its name must be the name of a kernel setting/],
    ['a number that the kernel shows in another way', 'kernel.sysrq: "0x1f0"', /numbers in decimal digits/],
    ['blanks that the kernel does not show', 'net.ipv4.tcp_rmem: "1  2"', /between single blanks/],
    ['two lines', '"vm.a": "1\\nnet.ipv4.ip_forward = 0"', /between single blanks/],
    ['a switch', 'vm.a: true', /sysctls\["vm.a"\]: must be text or a whole number$/],
    ['a fraction', 'vm.a: 1.5', /must be text or a whole number$/],
  ])('refuses %s', async (_what, setting, problem) => {
    for (const inventory of [
      text(`sysctls: { ${setting} }`),
      text(`roles: { worker: { sysctls: { ${setting} } } }`),
      text('', 'groups: [gpu]', `{ sysctls: { ${setting} } }`),
      text('', `groups: [gpu], sysctls: { ${setting} }`),
    ]) {
      const problems = await problemsOf(inventory);
      expect(problems, inventory).toHaveLength(1);
      expect(problems[0]).toMatch(problem);
    }
  });

  test('takes what is required as it must be, and the tunables of the kubelet for hosts without one', async () => {
    expect(await problemsOf(text('sysctls: { net.ipv4.ip_forward: 1, kernel.panic: 10 }'))).toEqual([]);
    expect(
      await problemsOf(`${text('loadBalancer: { kind: keepalived, address: 10.0.0.100 }')}  - name: lb1
    address: 10.0.0.5
    role: load-balancer
    sysctls: { kernel.panic: 5, net.ipv4.ip_forward: 0 }
`),
    ).toEqual([]);
  });

  test('warns about the one that kube-proxy sets, unless kube-proxy leaves it alone', async () => {
    const conntrack = 'sysctls: { net.netfilter.nf_conntrack_max: 1000000 }';
    const warnings = async (inventory: string) =>
      (await load(inventory)).warnings.map(shown).filter((line) => line.includes('kube-proxy'));
    expect(await warnings(text(conntrack))).toEqual([
      expect.stringMatching(/^3:\d+ sysctls\["net.netfilter.nf_conntrack_max"\]: kube-proxy sets it when it starts/),
    ]);
    const left = `${conntrack}\nkubeadm: { kubeProxy: { conntrack: { maxPerCore: 0 } } }`;
    expect(await warnings(text(left))).toEqual([]);
  });
});
