/** A pod that watches the API all the time with the CA that it read when it started, and notes in a ConfigMap how often it could. */
import { kubectl } from './pods.ts';
import { VERSIONS } from './versions.ts';

const IMAGE = `registry.k8s.io/e2e-test-images/agnhost:${VERSIONS.agnhost}`;
const NAME = 'watched';

const WATCH = `
SA=/var/run/secrets/kubernetes.io/serviceaccount
U=https://kubernetes.default.svc/api/v1/namespaces/default/configmaps
cat $SA/ca.crt >/tmp/ca.crt
ok=0 bad=0 refused=0
api() { curl -sS --cacert /tmp/ca.crt -H "Authorization: Bearer $(cat $SA/token)" "$@"; }
while :; do
  code=$(api -N --max-time 3 -o /dev/null -w '%{http_code}' "$U?watch=1" 2>/tmp/error)
  if [ "$code" = 401 ]; then refused=$((refused + 1)); fi
  if [ "$code" = 200 ]; then ok=$((ok + 1)); else bad=$((bad + 1)); cat /tmp/error; fi
  api -X PATCH -H 'Content-Type: application/merge-patch+json' -d "{\\"data\\":{\\"$POD\\":\\"$ok $bad $refused\\"}}" "$U/${NAME}" >/dev/null || :
done
`;

/** Starts it; returns when it has watched. */
export async function startWatcher(controlPlane: string): Promise<void> {
  const labels = { app: NAME };
  const items = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: NAME },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 0,
            volumes: [{ name: 'tmp', emptyDir: {} }],
            containers: [
              {
                name: 'watch',
                image: IMAGE,
                command: ['sh', '-c', WATCH],
                env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
                volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
              },
            ],
          },
        },
      },
    },
  ];
  await kubectl(controlPlane, '-n default apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await kubectl(controlPlane, `-n default rollout status deployment/${NAME} --timeout=180s`);
}

/** By the name of a pod: how many of its watches succeeded, how many failed, and how many of these because its token was refused (401). */
export async function watchedSoFar(
  controlPlane: string,
): Promise<Readonly<Record<string, { readonly ok: number; readonly failed: number; readonly refused: number }>>> {
  const text = await kubectl(controlPlane, `-n default get configmap ${NAME} -o json`);
  const { data = {} } = JSON.parse(text) as { readonly data?: Readonly<Record<string, string>> };
  return Object.fromEntries(
    Object.entries(data).map(([pod, counts]) => {
      const [ok = 0, failed = 0, refused = 0] = counts.split(' ').map(Number);
      return [pod, { ok, failed, refused }];
    }),
  );
}
