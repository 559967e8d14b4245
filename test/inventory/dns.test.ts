import { describe, expect, test } from 'vitest';
import { inventoryOf, problemsOf } from './load.ts';

/** Line 3 holds what a test adds. */
const text = (settings: string): string => `name: prod
kubernetes: { version: "1.36.3", dnsDomain: prod.example.com }
${settings}
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
`;

describe('dns', () => {
  test('is empty if the inventory names nothing, and keeps what it names', async () => {
    expect((await inventoryOf(text(''))).dns).toEqual({ blocks: {} });
    const { dns } = await inventoryOf(
      text(
        'dns: { replicas: 3, resources: { limits: { memory: 300Mi } }, blocks: { corp.example.org: "errors\\nforward . 10.0.0.53" } }',
      ),
    );
    expect(dns).toEqual({
      replicas: 3,
      resources: { limits: { memory: '300Mi' } },
      blocks: { 'corp.example.org': 'errors\nforward . 10.0.0.53' },
    });
  });

  test.each([
    ['no pods', 'replicas: 0', /dns\.replicas: /],
    ['a zone of all names', 'blocks: { ".": errors }', /must be a zone in lower case/],
    ['a zone that would end its block', 'blocks: { "a { } b": errors }', /must be a zone in lower case/],
    ['a number for an amount', 'resources: { limits: { memory: 300 } }', /memory: /],
    [
      "a request above kubeadm's limit, which the API refuses",
      'resources: { requests: { memory: 200Mi } }',
      /dns\.resources\.requests: memory: the request 200Mi is more than kubeadm's limit 170Mi; set both$/,
    ],
    [
      "a limit below kubeadm's request",
      'resources: { limits: { memory: 64Mi } }',
      /dns\.resources\.limits: memory: the request 70Mi is more than the limit 64Mi; set both$/,
    ],
    [
      'the domain of the cluster',
      'blocks: { prod.example.com: errors }',
      /would answer for prod\.example\.com instead of the cluster/,
    ],
    ['a zone around it', 'blocks: { example.com: errors }', /would answer for prod\.example\.com/],
    ['a zone within it', 'blocks: { "svc.prod.example.com:53": errors }', /would answer for prod\.example\.com/],
    [
      'one zone twice',
      'blocks: { a.example.org: errors, "a.example.org:53": errors }',
      /is the zone of "a\.example\.org"; write one block$/,
    ],
    ['a brace too many', 'blocks: { a.example.org: "errors\\n}\\n.:53 {" }', /has a "}" without its "{"/],
    ['a brace that is open', 'blocks: { a.example.org: "hosts {" }', /has a "{" without its "}"$/],
    ['no port', 'blocks: { "a.example.org:70000": errors }', /has no port of 1 to 65535$/],
  ])('refuses %s', async (_, settings, message) => {
    expect(await problemsOf(text(`dns: { ${settings} }`))).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    ['braces in a comment or in quotes', 'a.example.org: "errors # {\\ntemplate IN A {\\n  answer \\"a {\\"\\n}"'],
    ['the domain of the cluster at another port', '"prod.example.com:5353": errors'],
    ['a zone beside that of the cluster', 'corp.example.com: errors'],
    ['the addresses of a network', '10.in-addr.arpa: errors'],
  ])('accepts %s', async (_, block) => {
    expect(await problemsOf(text(`dns: { blocks: { ${block} } }`))).toEqual([]);
  });

  test('and a cluster without CoreDNS of kubeadm exclude each other', async () => {
    const without = 'kubeadm: { cluster: { dns: { disabled: true } } }';
    expect(await problemsOf(text(`dns: { replicas: 3 }\n${without}`))).toEqual([
      expect.stringMatching(/dns: is for the CoreDNS of kubeadm/),
    ]);
    expect(await problemsOf(text(without))).toEqual([]);
  });
});
