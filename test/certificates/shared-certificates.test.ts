import { expect, test } from 'vitest';
import { ownAuthorityFiles, withSharedCertificates } from '../../src/certificates/shared-files.ts';
import { joinConfiguration } from '../../src/kubeadm/config.ts';
import { kubeadmJob } from '../../src/kubeadm/run-kubeadm.step.ts';
import { Secret } from '../../src/shell/secret.ts';
import { cp1, cp2, inventoryOf } from '../fakes/cluster.ts';
import { type Answers, recordingOn } from '../fakes/on.ts';

const copying = inventoryOf({ certificates: { distribution: 'copy', renewBeforeMs: 30 * 86_400_000 } });
const STACKED = [
  'ca.crt',
  'ca.key',
  'sa.key',
  'sa.pub',
  'front-proxy-ca.crt',
  'front-proxy-ca.key',
  'etcd/ca.crt',
  'etcd/ca.key',
];

/** A control plane that prints the files it is asked for, as the script does. */
const control: Answers = {
  run: ({ script }) =>
    STACKED.filter((name) => script.includes(name))
      .map((name) => `${name} ${Buffer.from(`PEM of ${name}\n`).toString('base64')}\n`)
      .join(''),
};

test('copied certificates go from one control plane into the private files of the other’s job, and nowhere else', async () => {
  const { on, sent } = recordingOn(control);
  await withSharedCertificates(on(cp1), copying, ({ files, ...key }) => {
    expect(key).toEqual({});
    return kubeadmJob(on(cp2), copying, 'join', Secret.of('config'), files);
  });
  expect(sent.map(({ host, kind }) => `${host} ${kind}`)).toEqual(['cp1 reveal', 'cp2 job']);
  const job = sent[1]!;
  if (job.kind !== 'job') throw new Error();
  expect(job.files).toEqual({
    'config.yaml': 'config',
    ...Object.fromEntries(STACKED.map((name) => [`pki_${name.replace('/', '_')}`, `PEM of ${name}\n`])),
  });
  expect(job.script).not.toContain('PEM of');
});

test('copied certificates do not include the CA of an external etcd, which every control plane has already', async () => {
  const etcd = { topology: 'external', endpoints: [], ca: '', cert: '', key: Secret.of('') } as const;
  const { on } = recordingOn(control);
  const names = await withSharedCertificates(on(cp1), { ...copying, etcd }, ({ files }) =>
    Promise.resolve(Object.keys(files)),
  );
  expect(names).toHaveLength(6);
  expect(names).not.toContain('pki_etcd_ca.crt');
});

test('a control plane without one of the certificates is named', async () => {
  const { on } = recordingOn({ run: () => 'ca.crt UEVN\n' });
  await expect(withSharedCertificates(on(cp1), copying, () => Promise.resolve())).rejects.toThrow(
    'cp1 did not give /etc/kubernetes/pki/ca.key',
  );
});

test('without a certificate key a control plane still joins as one', () => {
  const { controlPlane } = joinConfiguration(copying, cp2, { token: Secret.of('t'), caHash: 'sha256:a' });
  expect(controlPlane).toEqual({ localAPIEndpoint: { advertiseAddress: '10.0.0.12', bindPort: 6443 } });
});

test('the inventory’s CA is installed where kubeadm’s init reads it; without it no file is', () => {
  const ca = { cert: 'CERT', key: Secret.of('KEY') };
  expect(
    Object.keys(
      ownAuthorityFiles(inventoryOf({ certificates: { distribution: 'upload', renewBeforeMs: 30 * 86_400_000, ca } })),
    ),
  ).toEqual(['pki_ca.crt', 'pki_ca.key']);
  expect(ownAuthorityFiles(inventoryOf())).toEqual({});
});

const signedElsewhere = () => Promise.resolve('');
const certificates = { distribution: 'copy', renewBeforeMs: 30 * 86_400_000 } as const;

test('the key of an authority for which a command signs is not copied, and those of the others are', async () => {
  const own = inventoryOf({ certificates: { ...certificates, etcdCa: { cert: 'ETCD', sign: signedElsewhere } } });
  const { on } = recordingOn(control);
  const names = await withSharedCertificates(on(cp1), own, ({ files }) => Promise.resolve(Object.keys(files)));
  expect(names).toContain('pki_etcd_ca.crt');
  expect(names).not.toContain('pki_etcd_ca.key');
  expect(names).toContain('pki_ca.key');
  expect(names).toContain('pki_front-proxy-ca.key');
});

test('the founder gets the authorities of the inventory, with the keys that it gives', () => {
  const key = Secret.of('KEY');
  const own = inventoryOf({
    certificates: {
      ...certificates,
      etcdCa: { cert: 'ETCD', sign: signedElsewhere },
      frontProxyCa: { cert: 'FRONT', key },
    },
  });
  expect(Object.keys(ownAuthorityFiles(own))).toEqual([
    'pki_etcd_ca.crt',
    'pki_front-proxy-ca.crt',
    'pki_front-proxy-ca.key',
  ]);
});

test('the authority of an etcd on hosts of its own is not for control planes', () => {
  const built = inventoryOf({
    etcd: { topology: 'built', endpoints: [] },
    certificates: { ...certificates, etcdCa: { cert: 'ETCD', key: Secret.of('KEY') } },
  });
  expect(ownAuthorityFiles(built)).toEqual({});
});
