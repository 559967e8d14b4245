# Starts the job Task as a scheduled task of SYSTEM. Returns `started`, or `busy` and the running task of another run.
# If kbuild repeats it after a lost connection, Folder exists and it starts nothing. Root, Jobs: private folders; Run:
# the folder in Jobs that is this run's; StartLock: held while a job is being started; Arguments: of powershell.exe;
# Payload: what it reads; Runner: arguments of powershell.exe with which the task runs the job; Files: JSON of the files
# for the job's working folder, each with its name and text.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Root,
    [Parameter(Mandatory = $true)][string]$StartLock,
    [Parameter(Mandatory = $true)][string]$Jobs,
    [Parameter(Mandatory = $true)][string]$Run,
    [Parameter(Mandatory = $true)][string]$Folder,
    [Parameter(Mandatory = $true)][string]$Task,
    [Parameter(Mandatory = $true)][string]$Arguments,
    [Parameter(Mandatory = $true)][string]$Payload,
    [Parameter(Mandatory = $true)][string]$Runner,
    [Parameter(Mandatory = $true)][string]$Files
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# False until the Task Scheduler has run a task (SCHED_S_TASK_HAS_NOT_RUN).
function Test-HasRun([string]$Name) {
    foreach ($info in @(Find-Existing -Look { Get-ScheduledTaskInfo -TaskName $Name -ErrorAction 'Stop' })) {
        return [long](Get-Property -Of $info -Name 'LastTaskResult') -ne 267011
    }
    return $false
}
function Test-Active($Task) {
    @('Running', 'Queued') -contains "$(Get-Property -Of $Task -Name 'State')"
}
# Waits until the Task Scheduler has run a task, or runs it. A look that fails says nothing.
function Wait-Begun([string]$Name, [datetime]$Until) {
    $begun = $false
    while (-not $begun) {
        $late = (Get-Date) -gt $Until
        try { $begun = Test-HasRun $Name }
        catch {
            if ($late) { throw }
        }
        if (-not $begun) {
            if ($late) { throw 'the Task Scheduler does not start the job: does its service (Schedule) run?' }
            Start-Sleep -Milliseconds 100
        }
    }
}
# Takes back a job that did not begin, with its payload, which has secrets. Without its payload it does nothing if it
# begins now.
function Remove-Unbegun([string]$Name, [string]$Path) {
    try {
        foreach ($one in @(Find-Existing -Look { Get-ScheduledTask -TaskName $Name -ErrorAction 'Stop' })) { Unregister-ScheduledTask -TaskName $Name -Confirm:$false }
    }
    finally { Remove-Tree -Path $Path }
}
New-PrivateFolder -Path $Root
New-PrivateFolder -Path $Jobs
$deadline = (Get-Date).AddSeconds(60)
$lock = Open-LockFile -Path $StartLock
while ($null -eq $lock) {
    if ((Get-Date) -gt $deadline) { throw "another run starts a job for more than a minute: $StartLock" }
    Start-Sleep -Milliseconds 200
    $lock = Open-LockFile -Path $StartLock
}
try {
    $known = @(Find-Existing -Look { Get-ScheduledTask -TaskName 'kbuild-job-*' -ErrorAction 'Stop' })
    $own = @($known | Where-Object -FilterScript { $_.TaskName -eq $Task })
    $begun = $false
    $waits = $false
    if (Test-Path -LiteralPath $Folder) {
        if (Test-Path -LiteralPath "$Folder\status") { $begun = $true }
        elseif ($own.Count -gt 0) {
            $begun = Test-HasRun $Task
            # It was started by a connection that was lost, and has not had its turn yet.
            $waits = -not $begun -and (Test-Active $own[0])
        }
    }
    $running = @($known | Where-Object -FilterScript { $_.TaskName -ne $Task -and (Test-Active $_) })
    $answer = @{ state = 'started' }
    if (-not $begun -and -not $waits -and $running.Count -gt 0) { $answer = @{ state = 'busy'; task = [string](Get-Property -Of $running[0] -Name 'TaskName') } }
    elseif (-not $begun) {
        if (-not $waits) {
            # No job runs: what other runs left here has ended or never began. A run may not have read a new result yet.
            $new = (Get-Date).AddSeconds(-60)
            foreach ($old in $known) { Unregister-ScheduledTask -TaskName $old.TaskName -Confirm:$false }
            foreach ($other in @(Get-ChildItem -LiteralPath $Jobs)) {
                $results = @(Get-ChildItem -LiteralPath $other.FullName -File -Recurse | Where-Object -FilterScript { (Get-Property -Of $_ -Name 'Name') -eq 'status' -and (Get-Property -Of $_ -Name 'LastWriteTime') -gt $new })
                if ($other.Name -ne $Run -and $results.Count -eq 0) { Remove-Tree -Path $other.FullName }
            }
            if (Test-Path -LiteralPath $Folder) { Remove-Tree -Path $Folder }
            New-Item -ItemType 'Directory' -Path "$Folder\work" -Force | Out-Null
        }
        try {
            if (-not $waits) {
                foreach ($file in @((ConvertFrom-Json -InputObject $Files).files)) { Write-Utf8 -Path "$Folder\work\$($file.name)" -Text $file.text }
                Write-Utf8 -Path "$Folder\payload" -Text $Payload
                Write-Utf8 -Path "$Folder\arguments" -Text $Arguments
                $action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument $Runner
                $principal = New-ScheduledTaskPrincipal -UserId 'SYSTEM' -LogonType 'ServiceAccount' -RunLevel 'Highest'
                $settings = New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -ExecutionTimeLimit (New-TimeSpan -Seconds 0)
                Register-ScheduledTask -TaskName $Task -Action $action -Principal $principal -Settings $settings -Force | Out-Null
                Start-ScheduledTask -TaskName $Task
            }
            $until = (Get-Date).AddSeconds(60)
            Wait-Begun $Task $until
        }
        catch {
            # A scheduler that does not answer may run the job: its folder stays then, and the next run takes it away.
            if (-not (Test-HasRun $Task)) { Remove-Unbegun $Task $Folder }
            throw
        }
    }
    Write-Result -Value $answer
}
finally {
    Close-LockFile -File $lock
    Remove-LockFile -Path $StartLock
}
