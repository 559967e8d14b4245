import { AUTHORITY_SETTINGS, secondsOf, VALIDITY_PERIODS } from '../../../certificates/authorities.value.ts';
import { packageManagerFolders } from '../../../host/packages/distributions.value.ts';
import { CONTAINER_RUNTIMES } from '../../../runtime/runtimes.value.ts';
import type { JsonObject } from '../../../shell/decode.ts';
import type { OwnAuthorities } from '../../control-plane.ts';
import { problem, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';

const SETTINGS: readonly (keyof OwnAuthorities)[] = Object.values(AUTHORITY_SETTINGS);

/** The user's own authorities that the inventory names, with their settings. */
const named = ({ certificates }: Pick<InventoryFile, 'certificates'>) =>
  typeof certificates === 'string'
    ? []
    : SETTINGS.flatMap((setting) => {
        const authority = certificates[setting];
        return authority === undefined ? [] : [{ setting, ...authority }];
      });

/**
 * An authority of the inventory signs with its key, which kubeadm and the cluster then have, or by a command, and then
 * no host has the key.
 */
export const signingAuthority: Rule = (file) =>
  named(file).flatMap(({ setting, key, sign }) => {
    if (key === undefined && sign === undefined)
      return [
        problem(
          ['certificates', setting, 'key'],
          'is required: env:NAME, file:PATH or command:COMMAND; or sign: COMMAND, where the key must stay with ' +
            'you (an HSM, Vault, step-ca)',
        ),
      ];
    return key !== undefined && sign !== undefined
      ? [problem(['certificates', setting, 'sign'], 'stands instead of key: name one of them')]
      : [];
  });

/**
 * kbuild places etcd's authority where it makes etcd's certificates: on control planes with stacked etcd, or on hosts
 * of role etcd.
 */
export const etcdsAuthority: Rule = (file) =>
  named(file).flatMap(({ setting, sign }) => {
    if (setting !== 'etcdCa' || file.etcd.topology === 'stacked') return [];
    if (!file.hosts.some(({ role }) => role === 'etcd'))
      return [
        problem(
          ['certificates', setting],
          'is for an etcd that kbuild builds, and etcd.endpoints names yours: its CA is etcd.ca; take one of them out',
        ),
      ];
    return sign === undefined
      ? []
      : [
          problem(
            ['certificates', setting, 'sign'],
            'signs for stacked etcd only: hosts of role etcd sign their certificates themselves; give ' +
              'certificates.etcdCa a key instead',
          ),
        ];
  });

/** Settings that do not work with a signing command. */
export const signingElsewhere: Rule = (file) => {
  const { certificates, hosts } = file;
  const signed = named(file).filter(({ sign }) => sign !== undefined);
  if (typeof certificates === 'string' || signed.length === 0) return [];
  return [
    ...(certificates.distribution === 'upload'
      ? [
          problem(
            ['certificates', 'distribution'],
            `must be copy (or left out) beside ${signed[0]!.setting}.sign: kubeadm does not upload certificates ` +
              'without the key of their CA',
          ),
        ]
      : []),
    ...hosts.flatMap(({ os, name }, i) =>
      os === 'windows' && signed.some(({ setting }) => setting === 'ca')
        ? [
            problem(
              ['hosts', i, 'os'],
              `${name}: Windows hosts cannot join where certificates.ca.sign signs: kbuild lets kubeadm make the ` +
                'request of a kubelet on the host, and does so on Linux only; give certificates.ca a key instead, ' +
                'or take them out',
            ),
          ]
        : [],
    ),
  ];
};

/** kubeadm takes any, and with a shorter one the certificates may end before the cluster is built. */
const SHORTEST_S = 10 * 60;
/** A hundred years; Go's longest duration is 292. */
const LONGEST_S = 876_000 * 3600;

/** kubeadm does not check how long its certificates are valid: with 0 the next renewal ends the cluster. */
export const validityPeriods: Rule = ({ kubeadm: { cluster } }) => {
  const settings = { ...VALIDITY_PERIODS, ...cluster };
  const seconds = (name: keyof typeof VALIDITY_PERIODS): number => secondsOf(settings[name]) ?? 0;
  const bad = (Object.keys(VALIDITY_PERIODS) as (keyof typeof VALIDITY_PERIODS)[]).filter(
    (name) => seconds(name) < SHORTEST_S || seconds(name) > LONGEST_S,
  );
  if (bad.length > 0)
    return bad.map((name) =>
      problem(
        ['kubeadm', 'cluster', name],
        'must be hours, minutes or seconds, from 10 minutes to 100 years, e.g. "8760h"',
      ),
    );
  return seconds('caCertificateValidityPeriod') >= seconds('certificateValidityPeriod')
    ? []
    : [
        warning(
          ['kubeadm', 'cluster', 'certificateValidityPeriod'],
          `is longer than caCertificateValidityPeriod (${settings.caCertificateValidityPeriod}): no certificate ` +
            'is accepted when its authority has ended',
        ),
      ];
};

const PATH = ['kubeadm', 'cluster', 'etcd', 'local'] as const;

/** Folders that etcd cannot have for itself: kubeadm empties etcd's folder at every reset. */
const SHARED =
  /^\/(?:etc|usr|bin|sbin|lib\w*|boot|dev|proc|sys|root|run|tmp)(?:\/|$)|^\/var\/(?:run|tmp|log)(?:\/|$)|^\/var\/lib\/(?:kubelet|kbuild|cni)(?:\/|$)/;
const TAKEN = [...CONTAINER_RUNTIMES.map(({ dataFolder }) => dataFolder), ...packageManagerFolders];
const isShared = (folder: string): boolean =>
  SHARED.test(folder) || TAKEN.some((taken) => folder === taken || folder.startsWith(`${taken}/`));

/** At least two parts, of characters that stand unquoted in etcd's manifest. */
const FORM = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,}$/;

/** etcd's data has a folder of its own, which kbuild finds by one setting. */
export const etcdFolder: Rule = ({ kubeadm }): readonly Violation[] => {
  const etcd = kubeadm.cluster['etcd'] as { readonly local?: JsonObject } | null | undefined;
  const local = etcd?.local ?? {};
  const dataDir = local['dataDir'];
  const isFolder = typeof dataDir === 'string' && FORM.test(dataDir) && !isShared(dataDir) && dataDir !== '/var/lib';
  const args = Array.isArray(local['extraArgs']) ? (local['extraArgs'] as readonly unknown[]) : [];
  return [
    ...(dataDir === undefined || isFolder
      ? []
      : [
          problem(
            [...PATH, 'dataDir'],
            'must be the absolute path of a folder for etcd alone, on a disk that stays, e.g. /data/etcd: ' +
              'kubeadm empties it at every reset',
          ),
        ]),
    ...args.flatMap((arg, i) => {
      const name = (arg as { readonly name?: unknown } | null)?.name;
      return name === 'data-dir' || name === 'wal-dir'
        ? [
            problem(
              [...PATH, 'extraArgs', i, 'name'],
              `--${name} is set by kbuild: use kubeadm.cluster.etcd.local.dataDir`,
            ),
          ]
        : [];
    }),
  ];
};
