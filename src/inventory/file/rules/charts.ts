import { isChartFile } from '../../schema/charts.ts';
import { problem, type Rule } from '../../schema/rule.ts';

const OCI = /^oci:\/\/[A-Za-z0-9][A-Za-z0-9.:[\]-]*(?:\/[a-z0-9][a-z0-9._-]*)+$/;
const URL = /^https:\/\/[A-Za-z0-9][^\s\p{Cc}]*$/u;
const CHART_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A chart is code that runs in the cluster: it comes from a file, or is pinned by its hash. */
export const chartSources: Rule = ({ charts: entries }) =>
  entries.flatMap((entry, i) => {
    const { chart: name, repository, version, sha256: hash } = entry;
    const at = (field: string) => ['charts', i, field];
    const first = entries.findIndex((other) => other.name === entry.name && other.namespace === entry.namespace);
    const repeated = first < i ? [problem(at('name'), `is the name of charts[${String(first)}] already`)] : [];
    if (isChartFile(entry))
      return version === undefined
        ? repeated
        : [...repeated, problem(at('version'), 'is for oci:// and repository; a .tgz file has its version: remove it')];
    const isOci = name.startsWith('oci://');
    const form = repository === undefined ? (isOci ? OCI : URL) : CHART_NAME;
    const must =
      repository === undefined
        ? 'must be a .tgz file, an https:// URL or an oci:// reference without tag'
        : 'must be the name of a chart in the repository';
    return [
      ...repeated,
      ...(form.test(name) ? [] : [problem(at('chart'), must)]),
      ...(version === undefined && (isOci || repository !== undefined)
        ? [problem(at('version'), 'is required: the exact version of the chart')]
        : []),
      ...(hash === undefined
        ? [problem(at('sha256'), 'is required: the SHA-256 of the packaged chart (`helm pull`, then sha256sum)')]
        : []),
    ];
  });
