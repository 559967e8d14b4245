# Observes the running jobs of kbuild.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$running = @()
foreach ($task in @(Get-ScheduledTask -TaskName 'kbuild-job-*' -ErrorAction 'SilentlyContinue')) {
    if (@('Running', 'Queued') -contains "$($task.State)") { $running += [string]$task.TaskName }
}
Write-Result -Value @{ running = @($running) }
