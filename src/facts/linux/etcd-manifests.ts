import { paths } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../../shell/probe.ts';

/** The name of the cluster for which kbuild made the host's etcd (its `--initial-cluster-token`); empty if kbuild did not make it. */
export const etcdToken = probe(
  sh`file=${paths.etcdManifest}; if [ ! -e "$file" ]; then file=${`${paths.restoreAside}/etcd.yaml`}; fi
     if [ -e "$file" ]; then echo token; sed -n 's/^ *- --initial-cluster-token=//p' "$file" | head -n 1; else echo absent; fi`,
  (out): string =>
    out.trim() === 'absent'
      ? 'absent'
      : out
          .trim()
          .replace(/^token\n?/, '')
          .trim(),
);

/** The etcd endpoints of the host's API server; `absent` on a host without an API server. */
export const etcdServers = probe(
  sh`file=/etc/kubernetes/manifests/kube-apiserver.yaml
     if [ -e "$file" ]; then sed -n 's/^ *- --etcd-servers=/servers /p' "$file" | head -n 1 | tr , '\n'; else echo absent; fi`,
  (out): readonly string[] | 'absent' =>
    out.trim() === 'absent' ? 'absent' : lines(out).map((line) => line.replace(/^servers /, '').trim()),
);
