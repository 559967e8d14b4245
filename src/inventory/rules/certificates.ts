import { problem, type Rule } from './rule.ts';

const PATH = ['certificates', 'ca'];

/**
 * The inventory's CA signs with its key, which kubeadm and the cluster then have, or by a command, and then no host has
 * the key.
 */
export const signingAuthority: Rule = ({ certificates }) => {
  if (typeof certificates !== 'object' || certificates.ca === undefined) return [];
  const { key, sign } = certificates.ca;
  if (key === undefined && sign === undefined)
    return [
      problem(
        [...PATH, 'key'],
        'is required: env:NAME, file:PATH or command:COMMAND; or sign: COMMAND, where the key must stay with you (an HSM, Vault, step-ca)',
      ),
    ];
  if (key !== undefined && sign !== undefined)
    return [problem([...PATH, 'sign'], 'stands instead of key: name one of them')];
  return [];
};

/** Settings that do not work with a signing command. */
export const signingElsewhere: Rule = ({ certificates, hosts }) => {
  if (typeof certificates !== 'object' || certificates.ca?.sign === undefined) return [];
  return [
    ...(certificates.distribution === 'upload'
      ? [
          problem(
            ['certificates', 'distribution'],
            'must be copy (or left out) beside ca.sign: kubeadm does not upload certificates without the key of their CA',
          ),
        ]
      : []),
    ...hosts.flatMap(({ os, name }, i) =>
      os === 'windows'
        ? [
            problem(
              ['hosts', i, 'os'],
              `${name}: Windows hosts cannot join where certificates.ca.sign signs: kbuild lets kubeadm make the request of a kubelet on the host, and does so on Linux only; give certificates.ca a key instead, or take them out`,
            ),
          ]
        : [],
    ),
  ];
};
