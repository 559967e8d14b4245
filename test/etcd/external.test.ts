import { expect, test } from 'vitest';
import { externalEtcd } from '../../src/etcd/endpoints.step.ts';
import { type EtcdEndpoint, externalEtcd as probe } from '../../src/etcd/etcd.facts.ts';
import { clusterConfiguration } from '../../src/kubeadm/config.ts';
import { Secret } from '../../src/shell/secret.ts';
import { hosts, inventory as inventoryWith } from '../fakes/inventory.ts';
import { target } from '../fakes/target.ts';

const url = 'https://10.0.0.41:2379';
const inventory = inventoryWith({
  etcd: { topology: 'external', endpoints: [url], ca: 'CA', cert: 'CERT', key: Secret.of('KEY') },
});
const read = (text: string): readonly EtcdEndpoint[] | 'not asked' =>
  probe(inventory, hosts[0]!).parse(text, { middleMs: 0 });
const said = (keys: string) =>
  `endpoint ${url}\nversion {"etcdserver":"3.6.8","etcdcluster":"3.6.0"}\nhealth {"health":"true","reason":""}\nkeys {"header":{"revision":"1"}${keys}}\n`;
const due = (answers: readonly EtcdEndpoint[] | 'not asked') =>
  externalEtcd
    .at(-1)!
    .diff(target({ externalEtcd: answers }, { inventory }))
    .map(({ summary }) => summary);

test('an endpoint tells version, health and how many keys a Kubernetes has there', () => {
  expect(read(said(''))).toEqual([{ url, problem: undefined, version: '3.6.8', keys: 0 }]);
  expect(read(said(',"count":"7"'))).toMatchObject([{ keys: 7 }]);
  expect(read(`endpoint ${url}\nerror curl: (60) SSL certificate problem\n`)).toMatchObject([
    { problem: 'curl: (60) SSL certificate problem' },
  ]);
  expect(read(`endpoint ${url}\nversion <html>\nhealth \nkeys \n`)).toMatchObject([
    { problem: 'it does not report its version (<html>)' },
  ]);
  expect(read('not asked\n')).toBe('not asked');
});

test('a healthy, empty, new etcd is ready', () => {
  expect(due(read(said('')))).toEqual([]);
});

test('kbuild waits for an etcd that is old, does not answer or was not probed yet', () => {
  expect(due([{ url, problem: undefined, version: '3.5.9', keys: 0 }]).join()).toMatch(/etcd 3\.5\.9, and 3\.5\.24/);
  expect(due([{ url, problem: 'refused', version: '', keys: 0 }]).join()).toMatch(/refused/);
  expect(due('not asked')).toHaveLength(1);
});

test('an etcd with the data of another cluster is refused', () => {
  expect(() => due(read(said(',"count":"7"')))).toThrow(/holds 7 keys of a Kubernetes cluster/);
});

test('control planes get its certificates, the key for root alone, and kubeadm its endpoints', () => {
  const changes = externalEtcd.slice(0, 2).flatMap((step) => step.diff(target({}, { inventory })));
  expect(changes.map(({ summary }) => summary)).toEqual([
    'install curl (found none)',
    'write /etc/kubernetes/pki/etcd/ca.crt (found none)',
    'write /etc/kubernetes/pki/apiserver-etcd-client.crt (found none)',
    'write /etc/kubernetes/pki/apiserver-etcd-client.key (found none)',
  ]);
  expect(clusterConfiguration(inventory)['etcd']).toMatchObject({ external: { endpoints: [url] } });
});

test('a stacked etcd needs none of it', () => {
  expect(externalEtcd.flatMap((step) => step.diff(target()))).toEqual([]);
});
