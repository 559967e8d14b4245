# Observes the running jobs of kbuild.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$running = @()
foreach ($task in @(Find-Existing -Look { Get-ScheduledTask -TaskName 'kbuild-job-*' -ErrorAction 'Stop' })) {
    if (@('Running', 'Queued') -contains "$($task.State)") { $running += [string]$task.TaskName }
}
Write-Result -Value @{ running = @($running) }
