import * as z from 'zod';
import { freeObject, label, localPath, secretReference, sha256, text } from './formats.ts';

const chart = z.strictObject({
  name: text(/^[a-z0-9](?:[a-z0-9-]{0,51}[a-z0-9])?$/, 'a release name of at most 53 characters, e.g. "metrics"').meta({
    description: 'Name of the release (`.Release.Name` in the chart).',
  }),
  namespace: label().meta({
    description: 'Namespace of its objects (`.Release.Namespace`). kbuild creates it if it is not there.',
  }),
  chart: localPath().meta({
    examples: ['oci://registry.example.com/charts/metrics'],
    description:
      'The packaged chart: a .tgz file, an https:// URL of one, an oci:// reference, or with repository the name of ' +
      'a chart there.',
  }),
  repository: text(/^https:\/\/[A-Za-z0-9][^\s\p{Cc}]*$/u, 'a URL, e.g. "https://charts.example.com"')
    .exactOptional()
    .meta({ description: 'URL of the repository with the chart.' }),
  version: text(/^v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/, 'an exact version, e.g. "1.2.3"')
    .exactOptional()
    .meta({ description: 'Version of the chart; required for oci:// and with repository.' }),
  sha256: sha256().exactOptional().meta({
    description: 'SHA-256 of the packaged chart (.tgz), required unless it is a file; other bytes are refused.',
  }),
  values: freeObject()
    .default({})
    .meta({ examples: [{ replicas: 2 }], description: 'Values for the chart, as in its values.yaml.' }),
  valuesFiles: z
    .array(localPath().refine((name) => !/^[a-z]+:\/\//i.test(name), 'must be a file of this machine, not a URL'))
    .default([])
    .meta({
      examples: [['values/all.yaml', 'values/production.yaml']],
      description:
        'YAML files with values, as in its values.yaml. Merged in their order, then values over them: mappings are ' +
        'merged, lists replaced; null takes a default of the chart away.',
    }),
  secretValues: z
    .record(text(/^[^.\p{Cc}]+(?:\.[^.\p{Cc}]+)*$/u, 'a path such as "auth.password"'), secretReference())
    .default({})
    .meta({
      examples: [{ 'auth.password': 'env:SECRET' }],
      description: 'Values that no log may show, by their path: env:NAME, file:PATH or command:COMMAND.',
    }),
  apiVersions: z
    .array(text(/^[a-z0-9][A-Za-z0-9./-]*$/, 'an API version, e.g. "monitoring.coreos.com/v1"'))
    .default([])
    .meta({
      description: "API versions beside Kubernetes' own and those of the inventory's CRDs that the chart may ask for.",
    }),
  clusterKinds: z
    .array(text(/^[A-Z][A-Za-z0-9]*$/, 'a kind, e.g. "ClusterIssuer"'))
    .default([])
    .meta({
      description:
        'Kinds without a namespace among its custom resources whose CRDs neither its chart nor a manifest of the ' +
        'inventory has.',
    }),
});

/** One entry of `charts:`. */
export type ChartEntry = z.infer<typeof chart>;

/** `charts:` */
export const charts = z.array(chart).default([]).meta({
  description: 'Helm charts, rendered by Helm on this machine and applied as objects, before manifests.',
});

/** True where the packaged chart is a file of this machine. */
export const isChartFile = ({ chart: name, repository }: ChartEntry): boolean =>
  repository === undefined && !/^[a-z]+:\/\//i.test(name);
