/** What a suite of Ginkgo reports of its specifications. */

/** What became of one specification. */
export interface Verdict {
  /** `[sig-network] Services should …`, without the words in brackets behind it. */
  readonly name: string;
  /** `network` of `[sig-network]`. */
  readonly group: string;
  readonly passed: boolean;
  /** It failed first, and passed when it ran again. */
  readonly again: boolean;
  readonly seconds: number;
  /** Why it failed. */
  readonly message: string;
}

/** What of Ginkgo's report is read: onsi/ginkgo types.Report. */
export interface GinkgoReport {
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeText: string;
    readonly LeafNodeType: string;
    readonly State: string;
    readonly NumAttempts: number;
    readonly RunTime: number;
    readonly Failure?: { readonly Message: string };
  }[];
}

/** The specifications' verdicts in a report; those that were not chosen are not there. */
export function verdictsOf(report: readonly GinkgoReport[]): readonly Verdict[] {
  return report
    .flatMap(({ SpecReports }) => SpecReports)
    .filter((spec) => spec.LeafNodeType === 'It' && spec.State !== 'skipped' && spec.State !== 'pending')
    .map((spec) => {
      const text = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ');
      return {
        name: text.replaceAll(/ \[[A-Z]\S*\]/g, ''),
        group: /\[sig-([\w-]+)\]/.exec(text)?.[1] ?? '',
        passed: spec.State === 'passed',
        again: spec.State === 'passed' && spec.NumAttempts > 1,
        seconds: spec.RunTime / 1e9,
        message: spec.Failure?.Message ?? '',
      };
    });
}

/** The rows of the table in docs/reliability.md. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const groups = [...new Set(verdicts.map(({ group }) => group))].toSorted();
  const row = (name: string, some: readonly Verdict[]): string => {
    const passed = some.filter((one) => one.passed);
    const seconds = some.reduce((sum, one) => sum + one.seconds, 0);
    const again = passed.filter((one) => one.again).length;
    return `| ${name} | ${some.length} | ${passed.length} | ${again} | ${seconds.toFixed(0)} |`;
  };
  return [
    ...groups.map((group) =>
      row(
        `sig-${group}`,
        verdicts.filter((one) => one.group === group),
      ),
    ),
    row('all', verdicts),
  ].join('\n');
}
