# Observes the scheduled tasks of kbuild: jobs that run, and tasks that have ended or never ran.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$running = @()
$left = @()
foreach ($pattern in @('kbuild-job-*', 'kbuild-restart')) {
    foreach ($task in @(Find-Existing -Look { Get-ScheduledTask -TaskName $pattern -ErrorAction 'Stop' })) {
        $name = [string](Get-Property -Of $task -Name 'TaskName')
        if (@('Running', 'Queued') -notcontains "$(Get-Property -Of $task -Name 'State')") { $left += $name }
        elseif ($name -like 'kbuild-job-*') { $running += $name }
    }
}
Write-Result -Value @{ running = @($running); left = @($left) }
